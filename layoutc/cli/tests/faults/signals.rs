//! Ctrl-C and SIGTERM at any moment.

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::scene::{Step, finished, project, same};
use layoutc_testing::campaign::seed;
use layoutc_testing::{Random, is_full};

#[test]
fn interrupted_build_leaves_only_complete_outputs() {
    let step = Step::next(project());
    let mut random = Random::new(seed());
    let start = Instant::now();
    step.before.copy().run(step.args).success();
    let usual = usize::try_from(start.elapsed().as_micros()).expect("short");
    let (mut codes, rounds) = (std::collections::BTreeMap::new(), if is_full() { 150 } else { 40 });
    for round in 0..rounds {
        let scene = step.before.copy();
        let mut command = scene.command(step.args);
        let child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        thread::sleep(Duration::from_micros(random.below(usual) as u64));
        let signal = *random.pick(&[Signal::INT, Signal::TERM]);
        let signaled = Instant::now();
        let _ = kill_process(Pid::from_child(&child), signal);
        let output = child.wait_with_output().expect("it ends");
        let (took, ran) = (signaled.elapsed(), finished(&output));
        let what = format!("seed {}, round {round}: {:?}, {}", seed(), output.status, ran.err);
        // Before the handler is installed, the signal ends the process; nothing is written yet.
        let early = output.status.signal().is_some_and(|signal| signal == 2 || signal == 15);
        assert!(early || matches!(ran.code, Some(0 | 130)), "{what}");
        assert!(took < Duration::from_secs(3), "{what}: {took:?}");
        assert_eq!(ran.err, "", "{what}");
        step.is_whole(&scene, &what);
        if early || ran.code == Some(0) || round % 4 == 0 {
            scene.heals(&step.built, &what);
        } else {
            scene.run(&["build", "-q"]).success();
            same(&scene.files("generated"), &step.built, &what);
        }
        *codes.entry(ran.code).or_insert(0) += 1;
    }
    eprintln!("interrupted builds by exit code: {codes:?}");
}

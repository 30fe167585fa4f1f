//! Random edits in random order: an incremental build gives the result of a clean one.

use std::fs::{self, File};
use std::time::{Duration, Instant, SystemTime};

use crate::scene::{Files, Scene};
use layoutc_testing::campaign::seed;
use layoutc_testing::process::Finished;
use layoutc_testing::{Random, is_full};

/// Manifests that the scripts add, edit and remove.
const MANIFESTS: [&str; 6] = [
    "layouts/a.kdl",
    "layouts/b.kdl",
    "layouts/x/a.kdl",
    "layouts/x/c.kdl",
    "layouts/lib/common.kdl",
    "layouts/lib/deep.kdl",
];
/// Outputs that the scripts modify.
const OUTPUTS: [&str; 7] = [
    "generated/c/a.h",
    "generated/c/a.c",
    "generated/c/tests/x/a_test.c",
    "generated/c/all.h",
    "generated/cuda/b.cu",
    "generated/json/a.json",
    "generated/json/x/a.json",
];

/// No script is started after this time.
const PATIENCE: Duration = Duration::from_secs(100);

/// A step of a script; the meaning of its numbers depends on the state of the project.
#[derive(Debug, Clone, Copy)]
enum Edit {
    Manifest(usize, usize),
    Remove(usize),
    Rename(usize, usize),
    Swap(usize, usize),
    SameTime(usize),
    Touch(usize, usize),
    Config(usize),
    Template(usize),
    Output(usize, usize),
    State(usize, usize),
    Settle,
}

impl Edit {
    fn by(random: &mut Random) -> Self {
        let file = random.below(MANIFESTS.len());
        let other = random.below(MANIFESTS.len());
        let number = random.below(1 << 16);
        match random.below(20) {
            0..=4 => Self::Manifest(file, number),
            5 => Self::Remove(file),
            6 => Self::Rename(file, other),
            7 => Self::Swap(file, other),
            8..=9 => Self::SameTime(file),
            10 => Self::Touch(file, number),
            11..=12 => Self::Config(number),
            13 => Self::Template(number),
            14..=16 => Self::Output(random.below(OUTPUTS.len()), number),
            17..=18 => Self::State(random.below(2), number),
            _ => Self::Settle,
        }
    }

    fn apply(self, scene: &Scene) {
        match self {
            Self::Manifest(file, number) => scene.write(MANIFESTS[file], manifest(number)),
            Self::Remove(file) => scene.remove(MANIFESTS[file]),
            Self::Rename(from, to) => {
                drop(fs::rename(scene.path(MANIFESTS[from]), scene.path(MANIFESTS[to])));
            }
            Self::Swap(one, other) => {
                let (one, other) = (scene.path(MANIFESTS[one]), scene.path(MANIFESTS[other]));
                if one != other && one.exists() && other.exists() {
                    let aside = scene.path("aside");
                    for (from, to) in [(&one, &aside), (&other, &one), (&aside, &other)] {
                        fs::rename(from, to).expect("moved");
                    }
                }
            }
            Self::SameTime(file) => same_time(scene, MANIFESTS[file]),
            Self::Touch(file, number) => {
                // 1970, the past, the future.
                let times = [0, 1_000_000_000, 4_102_444_800];
                let time = SystemTime::UNIX_EPOCH + Duration::from_secs(times[number % 3]);
                if let Ok(file) = File::options().write(true).open(scene.path(MANIFESTS[file])) {
                    file.set_modified(time).expect("set");
                }
            }
            Self::Config(number) => {
                scene.write("layoutc.toml", config(number));
                // The log covers one folder: in the other one, data files have no recorded owner.
                scene.remove("generated/json");
                scene.remove("other/json");
            }
            Self::Template(number) => template(scene, number),
            Self::Output(output, number) => harm_output(scene, OUTPUTS[output], number),
            Self::State(file, number) => harm_state(scene, ["log", "memo"][file], number),
            // From here on, file times are trusted.
            Self::Settle => std::thread::sleep(Duration::from_millis(40)),
        }
    }
}

fn manifest(number: usize) -> String {
    let width = [4, 8, 12, 16][number % 4];
    let blocked = format!(
        "tensor t{} dtype=f32 {{\n    shape {{ h 4; w {width} }}\n    layout {{\n        map \"(h, w) -> (w // 4, h, w % 4)\"\n    }}\n}}\n",
        number / 4 % 3
    );
    match number / 16 % 8 {
        0 => blocked.replace("w // 4, ", ""),
        1 => blocked.replace("shape", "shpae"),
        2 => "transform blocked {\n    split w by=4\n}\n".to_owned(),
        3 => "use \"deep.kdl\"\n".to_owned() + &blocked,
        4 | 5 => format!(
            "use \"lib/common.kdl\"\ntensor u dtype=f32 {{\n    shape {{ h 4; w {width} }}\n    layout blocked\n}}\n"
        ),
        6 => blocked.replace("h 4", "h 1"),
        _ => blocked,
    }
}

/// Another text of the same length with the same time.
fn same_time(scene: &Scene, path: &str) {
    let path = scene.path(path);
    let Ok(text) = fs::read_to_string(&path) else { return };
    let time = fs::metadata(&path).and_then(|metadata| metadata.modified()).expect("a time");
    let other =
        if text.contains("h 4") { text.replace("h 4", "h 2") } else { text.replace("h 2", "h 4") };
    fs::write(&path, other).expect("written");
    let file = File::options().write(true).open(&path).expect("there");
    file.set_modified(time).expect("set");
}

fn config(number: usize) -> String {
    let mut text = "[project]\nname = \"p\"\n".to_owned();
    if number.is_multiple_of(2) {
        text += "prefix = \"q_\"\n";
    }
    if (number / 2).is_multiple_of(8) {
        text += "out-dir = \"other\"\n";
    }
    if (number / 16).is_multiple_of(8) {
        text += "nonsense = 1\n";
    }
    text += if (number / 128).is_multiple_of(2) {
        "[target.c]\n"
    } else {
        "[target.c]\numbrella-header = \"all.h\"\n"
    };
    if (number / 256).is_multiple_of(2) {
        text += "[target.cuda]\n";
    }
    if (number / 512).is_multiple_of(4) {
        text += "[target.json]\ntemplate = \"shapes.json.j2\"\n";
    }
    text
}

fn template(scene: &Scene, number: usize) {
    match number % 5 {
        0 => scene.write(
            "templates/c/header.h.j2",
            format!("// {{{{ manifest }}}} {}\n", number / 5 % 3),
        ),
        1 => scene.remove("templates/c/header.h.j2"),
        2 => scene.remove("templates"),
        3 => scene.write("templates/shapes.json.j2", "{{ nothing.at.all }}\n"),
        _ => scene.write(
            "templates/shapes.json.j2",
            format!(
                "[{{% for t in tensors %}}\"{{{{ t.name }}}}\", {}{{% endfor %}}]\n",
                number / 5 % 3
            ),
        ),
    }
}

fn harm_output(scene: &Scene, output: &str, number: usize) {
    let path = scene.path(output);
    let Ok(text) = fs::read_to_string(&path) else { return };
    match number % 4 {
        0 => scene.remove(output),
        // As another build wrote it.
        1 => {
            let others = scene.files("generated");
            let same_kind = others.iter().find(|(other, bytes)| {
                other.rsplit('.').next() == output.rsplit('.').next() && **bytes != *text.as_bytes()
            });
            // A text without comments has no seal.
            if let Some((_, bytes)) = same_kind.filter(|_| !output.contains("/json/")) {
                scene.write(output, bytes);
            }
        }
        2 => scene.remove(output.rsplit_once('/').map_or(output, |(folder, _)| folder)),
        _ => {
            let file = File::options().write(true).open(&path).expect("there");
            file.set_modified(SystemTime::UNIX_EPOCH).expect("set");
        }
    }
}

fn harm_state(scene: &Scene, name: &str, number: usize) {
    let path = scene.path(&format!(".layoutc/{name}"));
    let Ok(mut bytes) = fs::read(&path) else { return };
    let at = number % bytes.len().max(1);
    match number % 3 {
        0 => bytes.truncate(at),
        1 if at < bytes.len() => bytes[at] ^= 1 << (number % 8),
        _ => return scene.remove(&format!(".layoutc/{name}")),
    }
    fs::write(path, bytes).expect("written");
}

/// Exit code and standard error of a build.
fn outcome(ran: &Finished) -> (Option<i32>, String) {
    (ran.code, ran.err.clone())
}

/// Outputs in the folder that a build wrote to.
fn outputs(scene: &Scene, part: &[&str]) -> Files {
    let config = fs::read_to_string(scene.path("layoutc.toml")).expect("there");
    let mut files = scene.files(match () {
        () if part.contains(&"--out") => "elsewhere",
        () if config.contains("out-dir") => "other",
        () => "generated",
    });
    files.retain(|path, _| !path.ends_with('/') && !path.starts_with(".layoutc/"));
    files
}

/// Runs a script; the error is the failing step.
fn run(script: &[Edit]) -> Result<(), String> {
    let scene = crate::scene::project();
    scene.remove("generated");
    scene.run(&["build"]).success();
    let mut harmed_data = false;
    for (number, edit) in script.iter().enumerate() {
        edit.apply(&scene);
        // Without the log, data files have no recorded owner, and must block their paths.
        harmed_data |= matches!(edit, Edit::State(0, _)) && data(&scene);
        if harmed_data {
            scene.run(&["build", "-q", "--force"]);
            harmed_data = false;
        }
        let part: &[&str] = match number % 9 {
            3 => &["build", "-q", "--target", "c"],
            5 => &["build", "-q", "layouts/x"],
            7 => &["build", "-q", "--out", "elsewhere"],
            _ => &["build", "-q"],
        };
        let ran = scene.run(part);
        let fresh = scene.copy_but(&[".layoutc", "generated", "other", "elsewhere"]);
        let expected = fresh.run(part);
        if outcome(&ran) != outcome(&expected) {
            return Err(format!(
                "step {number}, {edit:?}, {part:?}: {ran:?}\ninstead of {expected:?}"
            ));
        }
        let (found, wanted) = (outputs(&scene, part), outputs(&fresh, part));
        let is_part = part.len() > 2;
        let wrong: Vec<_> =
            wanted.iter().filter(|(path, text)| found.get(*path) != Some(text)).collect();
        let wrong: Vec<_> = wrong.into_iter().map(|(path, _)| path).collect();
        let extra: Vec<_> = found.keys().filter(|path| !wanted.contains_key(*path)).collect();
        if ran.code == Some(0) && (!wrong.is_empty() || !is_part && !extra.is_empty()) {
            return Err(format!(
                "step {number}, {edit:?}, {part:?}: wrong {wrong:?}, left over {extra:?}"
            ));
        }
    }
    Ok(())
}

fn data(scene: &Scene) -> bool {
    ["generated", "other"]
        .iter()
        .any(|folder| scene.files(folder).keys().any(|path| path.starts_with("json/")))
}

/// Shortest failing script found by leaving out halves, quarters and so on.
fn shortest(mut script: Vec<Edit>) -> Vec<Edit> {
    let mut size = script.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at + size <= script.len() {
            let mut shorter = script.clone();
            shorter.drain(at..at + size);
            if run(&shorter).is_err() {
                script = shorter;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    script
}

#[test]
fn after_any_edits_a_rebuild_equals_a_first_build() {
    let (scripts, length) = if is_full() { (60, 50) } else { (2, 25) };
    let start = Instant::now();
    for number in 0..scripts {
        if start.elapsed() > PATIENCE {
            eprintln!("{} edits were enough for today", number * length);
            break;
        }
        let seed = seed().wrapping_add(number);
        let mut random = Random::new(seed);
        let script: Vec<Edit> = (0..length).map(|_| Edit::by(&mut random)).collect();
        if let Err(error) = run(&script) {
            let short = shortest(script);
            let error = run(&short).err().unwrap_or(error);
            assert!(short.is_empty(), "LAYOUTC_SEED={seed}: {short:#?}\n{error}");
        }
    }
}

//! Proves a layout and prints where its elements are: `cargo run -p layoutc-algebra --example prove`.
//!
//! With arguments: `prove "(n, c) -> (c // 4, n, c % 4)" n=16 c=128`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example")]

use std::process::ExitCode;

use layoutc_algebra::{Error, Layout};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let map = args.next().unwrap_or_else(|| "(n, c) -> (c // 4, n, c % 4)".to_owned());
    let args: Vec<String> = args.collect();
    let args = if args.is_empty() { vec!["n=16".to_owned(), "c=128".to_owned()] } else { args };
    let axis = |arg: &str| {
        let (name, extent) = arg.split_once('=')?;
        Some((name.to_owned(), extent.parse().ok()?))
    };
    let Some(axes) = args.iter().map(|arg| axis(arg)).collect::<Option<Vec<(String, i128)>>>()
    else {
        eprintln!("usage: prove MAP AXIS=EXTENT…");
        return ExitCode::from(2);
    };
    match proven(&map, &axes) {
        Ok(layout) => {
            println!("{layout}");
            println!("verdict: {:?}, proven by {:?}", layout.verdict(), layout.proof());
            let last: Vec<i128> = axes.iter().map(|(_, extent)| extent - 1).collect();
            if let Ok(offset) = layout.offset_of(&last) {
                println!("offset of {last:?}: {offset}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn proven(map: &str, axes: &[(String, i128)]) -> Result<Layout, Error> {
    Layout::builder(axes.iter().map(|(name, extent)| (name.as_str(), *extent))).map(map)?.prove()
}

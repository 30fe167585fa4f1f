//! The arguments of `show`.

use std::path::PathBuf;

/// What `show --help` says besides.
pub(crate) const SHOWING: &str = "\
The picture goes to the terminal, unless --svg or --html name files; `-` is standard output.
Axes that are not drawn are held at 0, and symbols have their least value, unless told otherwise.
Example: layoutc show layouts/a.kdl texture --axes w,c --at n=3,h=7 --svg texture.svg";

// The arguments of `show`.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The manifest
    pub(crate) file: PathBuf,
    /// The tensor, or a view
    pub(crate) tensor: String,
    /// Draw a figure into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write a page to explore the layout with into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// The axes that go down and across, or the one that goes across [none: the last two]
    #[arg(long, value_name = "DOWN,ACROSS", value_delimiter = ',')]
    pub(crate) axes: Vec<String>,
    /// Where the other axes are held
    #[arg(long, value_name = "NAME=INDEX,...", value_delimiter = ',')]
    pub(crate) at: Vec<String>,
    /// The value of a symbol; may be given again [none: the least]
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// The columns of the terminal [none: as many as it has, or 100]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(20..=1000))]
    pub(crate) width: Option<u16>,
}

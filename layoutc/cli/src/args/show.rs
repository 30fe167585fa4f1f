//! The arguments of `show`.

use std::path::PathBuf;

pub(crate) const SHOWING: &str = "\
Draws on the terminal, unless --svg or --html name files; `-`: standard output.
By default, axes that are not drawn are fixed at 0, and symbols have their least value.
Example: layoutc show layouts/a.kdl texture --axes w,c --at n=3,h=7 --svg texture.svg";

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// Manifest
    pub(crate) file: PathBuf,
    /// Name of a tensor or view
    pub(crate) tensor: String,
    /// Write a figure to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write an interactive page to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Axes drawn down and across, or one across [default: the last two]
    #[arg(long, value_name = "DOWN,ACROSS", value_delimiter = ',')]
    pub(crate) axes: Vec<String>,
    /// Indices of the other axes [default: 0]
    #[arg(long, value_name = "NAME=INDEX,...", value_delimiter = ',')]
    pub(crate) at: Vec<String>,
    /// Print and color the bank of shared memory of each element, four banks a color
    #[arg(long)]
    pub(crate) banks: bool,
    /// Value of a symbol; repeatable [default: the least]
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Width in columns [default: that of the terminal, or 100]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(20..=1000))]
    pub(crate) width: Option<u16>,
}

//! The arguments of `pack` and `unpack`.

use std::path::PathBuf;

use crate::array::out_of_core::memory;

/// What `pack --help` says besides.
pub(crate) const PACKING: &str = "\
IN is dense and row-major. A .npy has the tensor's axes and element type; another file holds bare bytes.
bf16 is taken from <u2 or |V2, f8 and what is shorter from |u1 or |V1 (the bits), i4 and i2 from |i1 too:
one byte for each element, which must fit. A vector's lanes are one more axis, the last.
On standard input stands a .npy, with --raw bare bytes; to standard output go bare bytes.
Padding gets the fill value; with `fill none` it is 0.
Files that --memory does not hold are moved in pieces: OUT grows as OUT.part, and a run that was ended
early is gone on with by the same command.
Example: layoutc pack layouts/a.kdl filters filters.npy -o filters.bin";

/// What `unpack --help` says besides.
pub(crate) const UNPACKING: &str = "\
OUT is dense and row-major, a .npy with the tensor's axes or bare bytes. bf16 is written as <u2, f8 and
f4 as |u1 (the bits), i4 and i2 as |i1, u4 to u1 as |u1: one byte for each element.
On standard input stand bare bytes; to standard output goes a .npy, with --raw bare bytes.
Files that --memory does not hold are moved in pieces, as by `pack`.
Example: layoutc unpack layouts/a.kdl filters filters.bin -o filters.npy";

// The arguments of `pack`.
#[derive(Debug, clap::Args)]
pub(crate) struct PackArgs {
    #[command(flatten)]
    pub(crate) moved: RelayoutArgs,
    /// Write a C array `static const T <tensor>_data[N] = { ... };` [without -o: to standard output]
    #[arg(long)]
    pub(crate) c_array: bool,
    /// The laid out tensor: .npy, or bare bytes; `-` is standard output
    #[arg(short, long, value_name = "OUT", required_unless_present = "c_array")]
    pub(crate) output: Option<PathBuf>,
}

// The arguments of `unpack`.
#[derive(Debug, clap::Args)]
pub(crate) struct UnpackArgs {
    #[command(flatten)]
    pub(crate) moved: RelayoutArgs,
    /// The dense tensor: .npy, or bare bytes; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
}

// What both need.
#[derive(Debug, clap::Args)]
pub(crate) struct RelayoutArgs {
    /// The manifest
    pub(crate) file: PathBuf,
    /// The tensor
    pub(crate) tensor: String,
    /// The file that is read: .npy, or bare bytes; `-` is standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The files hold bare bytes, whatever they are called
    #[arg(long)]
    pub(crate) raw: bool,
    /// The value of a symbol; may be given again [of a dense .npy: its shape says it]
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Files that take more than this are moved in pieces [default: a quarter of the memory there is, 1 GiB at most]
    #[arg(long, value_name = "SIZE", value_parser = memory::parse)]
    pub(crate) memory: Option<u64>,
    /// Begin anew where an earlier run has left a part of OUT
    #[arg(long)]
    pub(crate) no_resume: bool,
}

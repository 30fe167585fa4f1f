//! The arguments of `pack` and `unpack`.

use std::path::PathBuf;

use crate::array::out_of_core::memory;

pub(crate) const PACKING: &str = "\
IN is dense and row-major: a .npy with the tensor's axes and element type, or else raw bytes.
bf16 is read from <u2 or |V2, f8 and narrower types from |u1 or |V1 (the bits), i4 and i2 also from |i1:
one byte per element, in range. The lanes of a vector type are an additional last axis.
Standard input is a .npy, with --raw raw bytes; standard output is raw bytes.
Padding is set to the fill value; with `fill none`, to 0.
Files larger than --memory are converted in chunks: OUT is written as OUT.part until it is complete.
Example: layoutc pack layouts/a.kdl filters filters.npy -o filters.bin";

pub(crate) const UNPACKING: &str = "\
OUT is dense and row-major, a .npy with the tensor's axes or raw bytes. bf16 is written as <u2, f8 and
f4 as |u1 (the bits), i4 and i2 as |i1, u4 to u1 as |u1: one byte per element.
Standard input is raw bytes; standard output is a .npy, with --raw raw bytes.
Files larger than --memory are converted in chunks, as by `pack`.
Example: layoutc unpack layouts/a.kdl filters filters.bin -o filters.npy";

#[derive(Debug, clap::Args)]
pub(crate) struct PackArgs {
    #[command(flatten)]
    pub(crate) moved: RelayoutArgs,
    /// Write a C array `static const T <tensor>_data[N] = { ... };` [without -o: on standard output]
    #[arg(long)]
    pub(crate) c_array: bool,
    /// Physical tensor: .npy or raw bytes; `-`: standard output
    #[arg(short, long, value_name = "OUT", required_unless_present = "c_array")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UnpackArgs {
    #[command(flatten)]
    pub(crate) moved: RelayoutArgs,
    /// Dense tensor: .npy or raw bytes; `-`: standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RelayoutArgs {
    /// Manifest
    pub(crate) file: PathBuf,
    /// Name of the tensor
    pub(crate) tensor: String,
    /// Input file: .npy or raw bytes; `-`: standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// Read and write raw bytes, whatever the names of the files
    #[arg(long)]
    pub(crate) raw: bool,
    /// Value of a symbol; repeatable [default: from the shape of a dense .npy]
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Convert larger files in chunks [default: a quarter of the available memory, at most 1 GiB]
    #[arg(long, value_name = "SIZE", value_parser = memory::parse)]
    pub(crate) memory: Option<u64>,
}

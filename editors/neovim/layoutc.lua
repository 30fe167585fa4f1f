-- Starts `layoutc lsp` for KDL files (Neovim 0.11). Which of them are layout manifests, the server decides.
vim.lsp.config("layoutc", {
  cmd = { "layoutc", "lsp" },
  filetypes = { "kdl" },
  root_markers = { "layoutc.toml" },
})
vim.lsp.enable("layoutc")

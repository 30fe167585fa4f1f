-- Starts `layoutc lsp` for KDL files (Neovim from 0.7 on). Which of them are layout manifests, the server decides.
local server = { name = "layoutc", cmd = { "layoutc", "lsp" } }

if vim.lsp.config then
  -- From 0.11 on.
  vim.lsp.config("layoutc", {
    cmd = server.cmd,
    filetypes = { "kdl" },
    root_markers = { "layoutc.toml" },
  })
  vim.lsp.enable("layoutc")
  return
end

-- Versions before 0.10 do not know KDL.
vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  pattern = "*.kdl",
  command = "setfiletype kdl",
})

local clients = {}

vim.api.nvim_create_autocmd("FileType", {
  pattern = "kdl",
  callback = function(event)
    local marker = vim.fn.findfile("layoutc.toml", vim.fn.expand("%:p:h") .. ";")
    local root = marker ~= "" and vim.fn.fnamemodify(marker, ":p:h") or vim.fn.expand("%:p:h")
    local config = vim.tbl_extend("force", { root_dir = root }, server)
    if vim.lsp.start then
      vim.lsp.start(config)
      return
    end
    -- 0.7 starts a client without looking for one that is there.
    clients[root] = clients[root] or vim.lsp.start_client(config)
    vim.lsp.buf_attach_client(event.buf or 0, clients[root])
  end,
})

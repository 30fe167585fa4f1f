// Starts `layoutc lsp` for layout manifests. Which KDL files are manifests, the server decides.

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const settings = workspace.getConfiguration("layoutc");
  const server = { command: settings.get("path") || "layoutc", args: ["lsp"] };
  client = new LanguageClient("layoutc", "layoutc", server, {
    documentSelector: [
      { scheme: "file", language: "layoutc" },
      { scheme: "file", language: "kdl" },
    ],
    initializationOptions: { docs: settings.get("docs") || undefined },
  });
  return client.start();
};

exports.deactivate = () => client && client.stop();

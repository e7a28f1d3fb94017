// References by the TypeScript compiler: node typescript_references.cjs TYPESCRIPT FOLDER QUESTIONS
// QUESTIONS is a JSON file: {"files": [...], "symbols": [[path, offset], ...]} with UTF-16 offsets.
// One line of JSON per symbol: [[path, offset], ...].
const fs = require("fs");
const path = require("path");
const [, , typescript, folder, questions] = process.argv;
const ts = require(typescript);
const { files, symbols } = JSON.parse(fs.readFileSync(questions, "utf8"));
const names = files.map((name) => path.join(folder, name));
const host = {
  getScriptFileNames: () => names,
  getScriptVersion: () => "1",
  getScriptSnapshot: (name) =>
    fs.existsSync(name) ? ts.ScriptSnapshot.fromString(fs.readFileSync(name, "utf8")) : undefined,
  getCurrentDirectory: () => folder,
  getCompilationSettings: () => ({
    allowJs: true,
    checkJs: false,
    noEmit: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: [],
    allowImportingTsExtensions: true,
  }),
  getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
};
const service = ts.createLanguageService(host);
for (const [name, offset] of symbols) {
  let found = [];
  try {
    const groups = service.findReferences(path.join(folder, name), offset) || [];
    for (const group of groups)
      for (const one of group.references)
        if (one.fileName.startsWith(folder + path.sep))
          found.push([path.relative(folder, one.fileName), one.textSpan.start, one.textSpan.length]);
  } catch (error) {
    found = null;
  }
  process.stdout.write(JSON.stringify(found) + "\n");
}

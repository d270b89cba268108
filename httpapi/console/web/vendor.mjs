// Writes, beside the bundle, the licenses of the packages in it and the SHA-256 of both.
// esbuild's metafile names the packages.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const vendor = new URL("../assets/vendor/", import.meta.url);
const modules = new URL("node_modules/", import.meta.url);
const { inputs } = JSON.parse(readFileSync(new URL(".codemirror.json", modules), "utf8"));

const packages = new Set(Object.keys(inputs).flatMap(file => file.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1] ?? []));
const licenses = [...packages].sort().map(name => {
  const { version, license } = JSON.parse(readFileSync(new URL(`${name}/package.json`, modules), "utf8"));
  const text = readFileSync(new URL(`${name}/LICENSE`, modules), "utf8").trim();
  return `${name} ${version}, ${license}\n\n${text}\n`;
});
writeFileSync(new URL("LICENSES.txt", vendor), licenses.join(`\n${"-".repeat(80)}\n\n`));

const sums = readdirSync(vendor).filter(file => file !== "SUM").sort().map(file =>
  `${createHash("sha256").update(readFileSync(new URL(file, vendor))).digest("hex")}  ${file}\n`);
writeFileSync(new URL("SUM", vendor), sums.join(""));

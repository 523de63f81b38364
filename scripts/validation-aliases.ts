import path from "node:path";

const folder = path.resolve(import.meta.dirname, "../apps/shared/validation");

/** For builds whose pages validate PDFs: the validation's own imports of Node, answered by what browsers have. */
export const validationAliases = [
  { find: /^node:crypto$/, replacement: path.join(folder, "node-crypto.ts") },
  { find: /^node:zlib$/, replacement: path.join(folder, "node-zlib.ts") },
];

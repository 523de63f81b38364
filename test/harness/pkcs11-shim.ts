/** SoftHSM behind a library that counts PIN tries, refuses as it is told, and keeps a call waiting. Needs a C compiler. */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type SoftToken, softhsmModule } from "./softhsm.ts";

export type ShimModule = {
  module: string;
  /** What `C_Login` answers from now on instead of trying; 0 lets it through. */
  answerLogin(code: number): void;
  /** The same for `C_GenerateKeyPair`. */
  answerGenerate(code: number): void;
  /** How often a PIN was tried. */
  tries(): number;
  /** The next `C_Sign` blocks its thread until `letGo`; it gives up by itself after ten seconds, with an error. */
  holdSign(): void;
  /** Whether a `C_Sign` waits now. */
  holds(): boolean;
  letGo(): void;
};

const source = (file: (name: string) => string) => `
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
typedef unsigned long ul;
typedef ul (*getlist)(void ***);
typedef ul (*login_fn)(ul, ul, unsigned char *, ul);
typedef ul (*sign_fn)(ul, unsigned char *, ul, unsigned char *, ul *);
typedef ul (*pair_fn)(ul, void *, void *, ul, void *, ul, ul *, ul *);
static void *copy[80];
static login_fn real_login;
static sign_fn real_sign;
static pair_fn real_pair;
static ul told(const char *name) {
  ul code = 0; FILE *f = fopen(name, "r");
  if (f) { if (fscanf(f, "%lu", &code) != 1) code = 0; fclose(f); }
  return code;
}
static ul my_login(ul s, ul u, unsigned char *p, ul n) {
  FILE *f = fopen("${file("tries")}", "a"); fputc('x', f); fclose(f);
  ul code = told("${file("login")}");
  return code ? code : real_login(s, u, p, n);
}
static ul my_pair(ul s, void *m, void *a, ul an, void *b, ul bn, ul *x, ul *y) {
  ul code = told("${file("generate")}");
  return code ? code : real_pair(s, m, a, an, b, bn, x, y);
}
static ul my_sign(ul s, unsigned char *d, ul n, unsigned char *out, ul *outn) {
  if (access("${file("hold")}", F_OK) == 0) {
    int i; FILE *f = fopen("${file("held")}", "w"); fclose(f);
    for (i = 0; i < 10000 && access("${file("go")}", F_OK) != 0; i++) usleep(1000);
    if (access("${file("go")}", F_OK) != 0) return 0x54;
  }
  return real_sign(s, d, n, out, outn);
}
ul C_GetFunctionList(void ***out) {
  void *lib = dlopen("${file("softhsm.so")}", RTLD_NOW); void **list; int i;
  if (!lib || ((getlist)dlsym(lib, "C_GetFunctionList"))(&list)) return 5;
  /* The version, then 68 functions: C_Login is the 19th, C_Sign the 44th, C_GenerateKeyPair the 60th. */
  for (i = 0; i < 69; i++) copy[i] = list[i];
  real_login = (login_fn)copy[19]; copy[19] = (void *)my_login;
  real_sign = (sign_fn)copy[44]; copy[44] = (void *)my_sign;
  real_pair = (pair_fn)copy[60]; copy[60] = (void *)my_pair;
  *out = copy; return 0;
}`;

export function shimModule(soft: SoftToken): ShimModule {
  const file = (name: string) => path.join(soft.folder, name);
  // A copy, so that it has a state of its own in this process.
  copyFileSync(softhsmModule, file("softhsm.so"));
  writeFileSync(file("shim.c"), source(file));
  execFileSync("cc", ["-shared", "-fPIC", "-o", file("shim.so"), file("shim.c"), "-ldl"], { stdio: "pipe" });
  writeFileSync(file("tries"), "");
  return {
    module: file("shim.so"),
    answerLogin: (code) => writeFileSync(file("login"), String(code)),
    answerGenerate: (code) => writeFileSync(file("generate"), String(code)),
    tries: () => readFileSync(file("tries")).length,
    holdSign: () => writeFileSync(file("hold"), ""),
    holds: () => existsSync(file("held")),
    letGo: () => writeFileSync(file("go"), ""),
  };
}

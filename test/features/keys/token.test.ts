import { createPublicKey, verify } from "node:crypto";
import { utimesSync, writeFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import type { PinMemory } from "../../../server/features/keys/pkcs11/pins.ts";
import { openToken, type Token } from "../../../server/features/keys/pkcs11/token.ts";
import { type ShimModule, shimModule } from "../../harness/pkcs11-shim.ts";
import { makeToken, type SoftToken, softhsmModule } from "../../harness/softhsm.ts";

/** Every way in which a token can refuse, on SoftHSM; what SoftHSM cannot do, by a library around it. */

let token: SoftToken | undefined;
afterEach(() => token?.close());

function memory(): PinMemory & { kept: string | undefined } {
  const pins = {
    kept: undefined as string | undefined,
    fingerprint: (pin: string, writtenMs: number) => `${pin} ${writtenMs}`,
    refused: async () => pins.kept,
    remember: async (fingerprint: string) => {
      pins.kept = fingerprint;
    },
  };
  return pins;
}

function open(soft: SoftToken, about: { module?: string; label?: string; pins?: PinMemory } = {}): Token {
  const { module = softhsmModule, label = "signet", pins = memory() } = about;
  return openToken({ module, label, pinFile: soft.pinFile }, pins);
}

/** After the rest that a token gets which was just found away. */
const rested = () => expect.poll(() => performance.now(), { timeout: 3000 });
const restedSince = async (since: number) => await rested().toBeGreaterThan(since + 1100);

test("keys of every kind sign in the token, many at a time, and never leave it", async () => {
  token = makeToken();
  const opened = open(token);
  for (const kind of ["rsa-3072", "ec-p256", "ed25519"] as const) {
    const { keyId, publicKey } = await opened.generate(kind, `test ${kind}`);
    const messages = Array.from({ length: 20 }, (_, n) => Buffer.from(`message ${n}`));
    const signatures = await Promise.all(messages.map((message) => opened.sign(keyId, kind, message)));
    const digest = kind === "ed25519" ? null : "sha256";
    const key = createPublicKey(publicKey.export({ type: "spki", format: "pem" }));
    for (const [n, message] of messages.entries())
      expect(verify(digest, message, key, signatures[n] ?? Buffer.alloc(0))).toBe(true);
  }
  expect(await opened.inspect()).toMatchObject({ keys: 3, missing: [] });
});

test("a wrong PIN is tried once, also by the next process, until its file is written anew", async () => {
  token = makeToken();
  const shim = shimModule(token);
  const pins = memory();
  writeFileSync(token.pinFile, "999999\n");
  for (let n = 0; n < 3; n += 1)
    await expect(open(token, { ...shim, pins }).inspect()).rejects.toMatchObject({ code: "pin-wrong" });
  expect(shim.tries()).toBe(1);
  const later = new Date(Date.now() + 5000);
  utimesSync(token.pinFile, later, later);
  await expect(open(token, { ...shim, pins }).inspect()).rejects.toMatchObject({ code: "pin-wrong" });
  expect(shim.tries()).toBe(2);
  writeFileSync(token.pinFile, "123456\n");
  expect(await open(token, { ...shim, pins }).inspect()).toMatchObject({ keys: 0 });
  expect(shim.tries()).toBe(3);
});

test("a token that is looked at is looked at anew, however short ago it failed", async () => {
  token = makeToken();
  const opened = open(token);
  writeFileSync(token.pinFile, "\n");
  await expect(opened.inspect()).rejects.toMatchObject({ code: "pin-file-unreadable" });
  writeFileSync(token.pinFile, "123456\n");
  expect(await opened.inspect()).toMatchObject({ keys: 0 });
});

test("a call into the token holds up nothing: the event loop itself lets it go on", async () => {
  token = makeToken();
  const shim = shimModule(token);
  const opened = open(token, shim);
  const { keyId } = await opened.generate("ec-p256", "test");
  shim.holdSign();
  const signature = opened.sign(keyId, "ec-p256", Buffer.from("a"));
  // Were the call made in this thread, nothing here would run until the library gave up, with an error.
  await expect.poll(() => shim.holds(), { timeout: 9000 }).toBe(true);
  shim.letGo();
  expect((await signature).length).toBeGreaterThan(60);
});

type Trouble = {
  code: string;
  says: RegExp;
  todo: RegExp;
  provoke(soft: SoftToken, shim: ShimModule): Promise<unknown>;
};
const troubles: Trouble[] = [
  {
    code: "module-missing",
    says: /the PKCS#11 library \/nowhere\.so cannot be loaded/,
    todo: /set SIGNET_PKCS11_MODULE/,
    provoke: (soft) => open(soft, { module: "/nowhere.so" }).inspect(),
  },
  {
    code: "token-missing",
    says: /there is no token "other"/,
    todo: /plug the token in .* compare SIGNET_PKCS11_TOKEN/,
    provoke: (soft, shim) => open(soft, { ...shim, label: "other" }).inspect(),
  },
  {
    code: "pin-file-unreadable",
    says: /the PIN file .* cannot be read/,
    todo: /put the PIN into the first line of SIGNET_PKCS11_PIN_FILE/,
    provoke(soft, shim) {
      writeFileSync(soft.pinFile, "\n");
      return open(soft, shim).inspect();
    },
  },
  {
    code: "pin-wrong",
    says: /the token "signet" refused the PIN/,
    todo: /write the right PIN into SIGNET_PKCS11_PIN_FILE: until that file is written anew nobody tries again/,
    provoke(soft, shim) {
      writeFileSync(soft.pinFile, "999999\n");
      return open(soft, shim).inspect();
    },
  },
  {
    code: "pin-locked",
    says: /the PIN of the token "signet" is locked/,
    todo: /have the security officer of the token reset the user PIN/,
    provoke(soft, shim) {
      shim.answerLogin(0xa4);
      return open(soft, shim).inspect();
    },
  },
  {
    code: "mechanism-missing",
    says: /does not offer the making of ed25519 keys/,
    todo: /choose another --kind/,
    provoke: (soft, shim) => open(soft, shim).generate("ed25519", "x"),
  },
  {
    code: "mechanism-missing",
    says: /the token cannot do that: CKR_MECHANISM_INVALID/,
    todo: /switch the mechanism on in the settings of the token/,
    provoke(soft, shim) {
      shim.answerGenerate(0x70);
      return open(soft, shim).generate("ec-p256", "x");
    },
  },
  {
    code: "token-full",
    says: /the token has no room for another key: CKR_DEVICE_MEMORY/,
    todo: /delete keys in the token that nobody needs/,
    provoke(soft, shim) {
      shim.answerGenerate(0x31);
      return open(soft, shim).generate("ec-p256", "x");
    },
  },
  {
    code: "key-missing",
    says: /the token "signet" holds no key 00ff/,
    todo: /put another one into use: signet keys rotate/,
    provoke: (soft, shim) => open(soft, shim).find("00ff"),
  },
  {
    code: "token-failed",
    says: /the token failed: CKR_DEVICE_ERROR/,
    todo: /look at the log of the HSM/,
    provoke(soft, shim) {
      shim.answerLogin(0x30);
      return open(soft, shim).inspect();
    },
  },
];

test.each(troubles.map((row) => [`${row.code}: ${row.says.source}`, row] as const))(
  "every trouble has its code and says what to do: %s",
  async (_, { code, says, todo, provoke }) => {
    token = makeToken({ mechanisms: "CKM_RSA_PKCS,CKM_RSA_PKCS_KEY_PAIR_GEN,CKM_EC_KEY_PAIR_GEN,CKM_ECDSA" });
    const refused = provoke(token, shimModule(token));
    await expect(refused).rejects.toMatchObject({ code, message: expect.stringMatching(says) });
    await expect(refused).rejects.toThrow(todo);
  },
);

test("a token that was pulled out signs again once it is back", async () => {
  token = makeToken();
  const opened = open(token);
  const { keyId } = await opened.generate("ec-p256", "test");
  token.pullOut();
  await expect(opened.sign(keyId, "ec-p256", Buffer.from("a"))).rejects.toMatchObject({ code: "token-missing" });
  const since = performance.now();
  token.putBack();
  await restedSince(since);
  expect((await opened.sign(keyId, "ec-p256", Buffer.from("a"))).length).toBeGreaterThan(60);
});

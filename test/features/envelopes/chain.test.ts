import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { AuditEntry } from "../../../server/features/envelopes/audit-contract.ts";
import { checkChain, entryHash, extendChain } from "../../../server/features/envelopes/chain.ts";
import { canonicalize } from "../../../server/kernel/canonical.ts";
import { chainStart } from "../../../server/kernel/hash-chain.ts";
import type { Actor } from "../../../server/kernel/wire.ts";

// Contract §17, computed with other software.
const envelope = "env_000000000000000000000001";
const actor: Actor = { email: null, id: "key_000000000000000000000001", name: "CI", type: "api_key" };
const system: Actor = { type: "system", id: null, name: null, email: null };
const firstText = `{"actor":{"email":null,"id":"key_000000000000000000000001","name":"CI","type":"api_key"},"at":"2026-11-21T09:10:00.000Z","data":{"title":"Zürich — Vertrag"},"envelope":"env_000000000000000000000001","id":"evt_000000000000000000000001","ip":"192.0.2.1","prevHash":"0000000000000000000000000000000000000000000000000000000000000000","seq":1,"type":"envelope.created","userAgent":null,"v":1}`;
const firstHash = "fddbf7b8ed60710cdf8e0edc6a6a1469899a04c798f358c577a929adf137a2a6";

function chainOf(length: number): AuditEntry[] {
  const entries: AuditEntry[] = [];
  let end = { length: 0, head: chainStart };
  for (let index = 0; index < length; index += 1) {
    const extended = extendChain(envelope, end, `2026-11-21T09:10:0${index}.000Z`, [
      { id: `evt_00000000000000000000000${index}`, type: "recipient.viewed", actor: system, data: { index } },
    ]);
    entries.push(...extended.entries);
    end = extended.end;
  }
  return entries;
}
const endOf = (entries: readonly AuditEntry[]) => ({
  length: entries.length,
  head: entries.at(-1)?.hash ?? chainStart,
});

describe("audit chain", () => {
  it("writes entry 1 of the contract byte for byte", () => {
    const { entries } = extendChain(envelope, { length: 0, head: chainStart }, "2026-11-21T09:10:00.000Z", [
      {
        id: "evt_000000000000000000000001",
        type: "envelope.created",
        actor,
        ip: "192.0.2.1",
        data: { title: "Zürich — Vertrag" },
      },
    ]);
    const [entry] = entries;
    if (entry === undefined) throw new Error("no entry");
    const { hash, ...rest } = entry;
    expect(canonicalize({ ...rest, data: rest.data })).toBe(firstText);
    expect(hash).toBe(firstHash);
    expect(hash).toBe(createHash("sha256").update(firstText, "utf8").digest("hex"));
  });

  it("chains entry 2 of the contract to it", () => {
    const end = { length: 1, head: firstHash };
    const { entries } = extendChain(envelope, end, "2026-11-21T09:10:01.250Z", [
      {
        id: "evt_000000000000000000000002",
        type: "envelope.ready",
        actor,
        ip: "192.0.2.1",
        data: { documentSha256: createHash("sha256").update("%PDF-1.7").digest("hex") },
      },
    ]);
    expect(entries).toMatchObject([
      {
        seq: 2,
        prevHash: firstHash,
        hash: "0bb52b939d960413d76f6da00592c59760e7bdcb989ab219a7d3e9fe93476c04",
      },
    ]);
  });

  it("accepts no entry that was changed, dropped, moved or added, and says where it breaks", () => {
    const chain = chainOf(6);
    expect(checkChain(chain, endOf(chain))).toEqual({
      valid: true,
      length: 6,
      headHash: chain[5]?.hash,
      brokenAtSeq: null,
    });
    for (const [index, entry] of chain.entries()) {
      const changes: AuditEntry[] = [
        { ...entry, data: { ...entry.data, more: true } },
        { ...entry, at: "2026-11-21T09:10:00.001Z" },
        { ...entry, type: "recipient.signed" },
        { ...entry, actor },
        { ...entry, ip: "192.0.2.9" },
        { ...entry, userAgent: "x" },
        { ...entry, envelope: "env_000000000000000000000002" },
        { ...entry, id: "evt_x" },
        { ...entry, seq: entry.seq + 1 },
        { ...entry, hash: "f".repeat(64) },
      ];
      for (const changed of changes) {
        const outcome = checkChain(chain.with(index, changed), endOf(chain));
        expect(outcome).toMatchObject({ valid: false, brokenAtSeq: index + 1 });
      }
      expect(checkChain(chain.toSpliced(index, 1), endOf(chain))).toMatchObject({
        valid: false,
        brokenAtSeq: index + 1,
      });
      expect(checkChain(chain.toSpliced(index, 0, entry), endOf(chain)).valid).toBe(false);
    }
  });

  it("finds an entry that was changed together with its own hash", () => {
    const chain = chainOf(4);
    const [, second] = chain;
    if (second === undefined) throw new Error("no entry");
    const forged = { ...second, data: { index: 99 } };
    const rehashed = { ...forged, hash: entryHash(forged) };
    expect(checkChain(chain.with(1, rehashed), endOf(chain))).toMatchObject({ valid: false, brokenAtSeq: 3 });
  });

  it("finds a chain that was cut short or grown behind the envelope's back", () => {
    const chain = chainOf(5);
    expect(checkChain(chain.slice(0, 3), endOf(chain))).toMatchObject({ valid: false, brokenAtSeq: 4 });
    expect(checkChain(chain, endOf(chain.slice(0, 3)))).toMatchObject({ valid: false, brokenAtSeq: 4 });
    expect(checkChain([], { length: 0, head: chainStart })).toMatchObject({
      valid: true,
      length: 0,
      headHash: chainStart,
    });
  });
});

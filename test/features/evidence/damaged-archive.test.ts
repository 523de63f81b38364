import { crc32, deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { verifyBundle } from "../../../server/features/evidence/verify-file.ts";
import { systemClock } from "../../../server/kernel/clock.ts";
import { openPool } from "../../../server/kernel/pool.ts";

/** A bundle that somebody packed anew and that was damaged on its way is a damaged archive, and no defect of whoever checks it. */

const text = Buffer.from("evidence ".repeat(200));

/** One entry, deflated (APPNOTE 6.3 §4.3). */
function archiveOf(packed: Buffer, size = text.length): Buffer {
  const name = Buffer.from("leaf.json");
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE(8, 4);
  common.writeUInt32LE(crc32(text), 10);
  common.writeUInt32LE(packed.length, 14);
  common.writeUInt32LE(size, 18);
  common.writeUInt16LE(name.length, 22);
  const head = Buffer.concat([Buffer.from("PK\x03\x04"), common, name, packed]);
  const entry = Buffer.concat([Buffer.from("PK\x01\x02\x14\x03"), common, Buffer.alloc(14), name]);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(1, 4);
  end.writeUInt16LE(1, 6);
  end.writeUInt32LE(entry.length, 8);
  end.writeUInt32LE(head.length, 12);
  return Buffer.concat([head, entry, Buffer.from("PK\x05\x06"), end]);
}

test("a compressed stream that is broken, cut off or longer than it says is called a damaged archive", async () => {
  const pool = openPool({ threads: 1 });
  try {
    const check = (archive: Uint8Array) =>
      verifyBundle({ pool, clock: systemClock }, archive, { kids: [], certificates: [] });
    const packed = deflateRawSync(text);
    // Whole, it is read, and is no bundle.
    expect(await check(archiveOf(packed))).toMatchObject({ verdict: "invalid", causes: ["file-missing"] });
    const damaged = [Buffer.alloc(packed.length, 0xff), packed.subarray(0, 5), Buffer.alloc(0)];
    for (const bytes of damaged)
      await expect(check(archiveOf(bytes))).rejects.toMatchObject({ name: "ZipError", fault: "damaged" });
    // A bomb states less than it holds: it is not unpacked any further than that.
    await expect(check(archiveOf(packed, 10))).rejects.toMatchObject({ name: "ZipError", fault: "damaged" });
  } finally {
    await pool.close();
  }
});

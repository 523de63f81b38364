import { writeSync } from "node:fs";
import { openDatabase } from "../../server/kernel/db.ts";
import { addNote, testMigrations } from "./tables.ts";

// Writes transactions of two notes each from several clients, prints the number of each that was acknowledged, and ends
// itself with SIGKILL at the given boundary.
const [file = "", at = "1", where = "tx:before-commit"] = process.argv.slice(2);
let left = Number(at);
const db = await openDatabase({
  file,
  migrations: testMigrations,
  onBoundary(point) {
    if (point !== where) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
  },
});
async function client(id: number): Promise<void> {
  for (let n = 0; ; n += 1) {
    const name = `${id}-${n}`;
    await db.tx(async (tx) => {
      await addNote(`${name} a`).execute(tx);
      await addNote(`${name} b`).execute(tx);
    });
    writeSync(1, `${name}\n`);
  }
}
await Promise.all([0, 1, 2, 3, 4].map(client));

import { open, rm } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { gatherSupport, zipSupport } from "../features/appliance/support-bundle.ts";
import { prepareSupportBundle, type SupportBundle, saveSupportBundle } from "../features/appliance/support-contract.ts";
import { type OperatorAct, recordOperatorAct } from "../features/operators/service.ts";
import { systemClock } from "../kernel/clock.ts";
import { callLocal, downloadLocal, NoAppliance } from "../local-client.ts";
import { type Command, type CommandContext, optional, print, table, UsageError } from "./command.ts";
import { findings } from "./doctor.ts";
import { entryOf } from "./list.ts";
import { size } from "./status.ts";
import { localAddress, operatorActor } from "./with-appliance.ts";
import { withDeps } from "./with-deps.ts";

export const supportBundle: Command = {
  ...entryOf("support-bundle"),
  usage: [
    "signet support-bundle --show            what would be in it",
    "signet support-bundle --out FILE.zip    the file must not be there yet",
  ],
  exitCodes: { 130: "it was stopped, and nothing is written" },
  async run(context) {
    const out = optional(context, "out");
    if ((out === undefined) === (context.options.show !== true))
      throw new UsageError("say --show, or --out and a file");
    const { bundle, zip } = await gather(context);
    if (out === undefined) {
      print(context, bundle, bundle.files.map(({ name, text }) => `=== ${name}\n${text.trimEnd()}`).join("\n\n"));
      return 0;
    }
    const file = path.resolve(out);
    const stopped = new AbortController();
    context.onSignal(() => stopped.abort());
    try {
      await save(file, zip, stopped.signal);
    } catch (error) {
      if (!stopped.signal.aborted) throw error;
      context.stderr("Stopped. Nothing was written.\n");
      return 130;
    }
    const files = bundle.files.map(({ name, bytes }) => ({ name, bytes }));
    print(
      context,
      { file, files },
      `${table(files.map(({ name, bytes }) => [name, size(bytes)]))}\n\nWritten to ${file}.`,
    );
    return 0;
  },
};

type Gathered = { bundle: SupportBundle; zip: AsyncIterable<Uint8Array> };

/** From the running appliance, which has the latest lines of the log; else from what lies there, as far as it can be opened. */
async function gather(context: CommandContext): Promise<Gathered> {
  const address = localAddress(context);
  try {
    const bundle = await callLocal(address, prepareSupportBundle, {});
    return { bundle, zip: downloadLocal(address, saveSupportBundle, { params: { id: bundle.id } }) };
  } catch (error) {
    if (!(error instanceof NoAppliance)) throw error;
  }
  const { config } = context;
  const about = { config, nowMs: systemClock.now(), checks: { data: await findings(context) }, status: null, log: [] };
  const bundle = await withDeps(context, async (deps) => {
    const made = await gatherSupport({ ...about, deps });
    const act: OperatorAct = { actor: operatorActor(), action: "support.bundle_made", target: made.id };
    await deps.db.tx((tx) => recordOperatorAct(tx, deps, act));
    return made;
    // The data cannot be opened, and that is what help is needed for.
  }).catch(() => gatherSupport({ ...about, deps: null }));
  return { bundle, zip: zipSupport(bundle) };
}

/** Whole, or not at all. */
async function save(file: string, pieces: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
  const handle = await open(file, "wx", 0o600);
  try {
    // Closes the file at its end, whatever that is.
    await pipeline(pieces, handle.createWriteStream({ flush: true }), { signal });
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

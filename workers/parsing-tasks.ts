/**
 * What the threads run that read bytes from outside: each task by its name. A failure comes back as a value; only a defect
 * throws. They hold no key of the appliance; what a trial seal is made with is made and dropped in them (`seal/throwaway.ts`).
 */
import { move, transferableSymbol, valueSymbol } from "piscina";
import type { ParsingTasks, TaskResult } from "./protocol.ts";
import { checkPicture } from "./read-picture.ts";

/** What the main thread posts to such a thread. */
type Message = { [N in keyof ParsingTasks]: { task: N; input: ParsingTasks[N]["input"] } }[keyof ParsingTasks];

/** The entry that Piscina calls. A rewritten file changes its owner instead of being copied; what else comes back is small. */
export default async function run(message: Message): Promise<unknown> {
  const result = await perform(message);
  const pdf = message.task === "inspect" && result.ok && "pdf" in result.value ? result.value.pdf : null;
  // A view on a pooled buffer cannot change its owner alone.
  if (!pdf || pdf.byteLength !== pdf.buffer.byteLength) return result;
  return move({ [transferableSymbol]: pdf.buffer, [valueSymbol]: result });
}

/** A thread loads what its tasks need: one that reads a picture starts four times as fast without the typesetter. */
async function perform(message: Message): Promise<TaskResult<keyof ParsingTasks>> {
  switch (message.task) {
    case "inspect":
      return (await import("./inspect.ts")).inspect(message.input);
    case "propose":
      return (await import("./proposals/propose.ts")).propose(message.input);
    case "takeProposals":
      return (await import("./proposals/take.ts")).takeProposals(message.input);
    case "readPicture":
      return checkPicture(message.input);
    case "stamp":
      return (await import("./stamp.ts")).stamp(message.input);
    case "fit":
      return (await import("./fit.ts")).measureTexts(message.input);
    case "certificate":
      return (await import("./certificate.ts")).certificate(message.input);
    case "verifyPdf": {
      const { verifySealedPdf } = await import("./seal/verify.ts");
      return { ok: true, value: verifySealedPdf(message.input.pdf, message.input) };
    }
    case "verifyToken": {
      const { verifyTimestamp } = await import("./seal/timestamp-verify.ts");
      const { token, imprint, trusted } = message.input;
      return { ok: true, value: verifyTimestamp(token, { algorithm: "sha256", digest: () => imprint, trusted }) };
    }
  }
}

import { z } from "zod";

/**
 * A further tab that was opened without a link, by its address alone, asks the tabs that are open for their session. Only
 * pages of this origin in the same browser hear it, and nothing is stored for it.
 */

const Message = z.discriminatedUnion("type", [
  z.object({ type: z.literal("who"), question: z.string(), path: z.string() }),
  z.object({ type: z.literal("here"), question: z.string(), access: z.string(), locale: z.string().nullable() }),
]);
export type Shared = { access: string; locale: string | null };

const name = "signet.sign";
const patienceMs = 400;

/** Answers for this tab for as long as it is open. @param mine null while there is nothing to share */
export function answerTabs(mine: () => Shared | null): void {
  if (!("BroadcastChannel" in window)) return;
  const channel = new BroadcastChannel(name);
  channel.addEventListener("message", ({ data }) => {
    const asked = Message.safeParse(data).data;
    const own = mine();
    if (asked?.type !== "who" || own === null || asked.path !== window.location.pathname) return;
    channel.postMessage({ type: "here", question: asked.question, ...own });
  });
}

/** The one session that other tabs of this address have; null when there is none, more than one, or no way to ask. */
export async function askTabs(): Promise<Shared | null> {
  try {
    return await ask();
  } catch {
    // The browser forbids it: the page then says that a link is needed.
    return null;
  }
}

async function ask(): Promise<Shared | null> {
  if (!("BroadcastChannel" in window)) return null;
  const channel = new BroadcastChannel(name);
  // Not a UUID, which browsers make on securely served pages alone.
  const question = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const found = new Map<string, Shared>();
  channel.addEventListener("message", ({ data }) => {
    const told = Message.safeParse(data).data;
    if (told?.type === "here" && told.question === question) {
      found.set(told.access, { access: told.access, locale: told.locale });
    }
  });
  channel.postMessage({ type: "who", question, path: window.location.pathname });
  await new Promise((resolve) => window.setTimeout(resolve, patienceMs));
  channel.close();
  const [first] = found.values();
  return found.size === 1 && first ? first : null;
}

/** What the tabs of one browser, which share a session, tell each other. */

/** changed: somebody signed in, or went to another organization. out: the session was ended by hand. */
export type TabNews = "changed" | "out";

let channel: BroadcastChannel | undefined;
const open = () => {
  channel ??= new BroadcastChannel("signet.session");
  return channel;
};

export function tellTabs(news: TabNews): void {
  open().postMessage(news);
}

/** @returns stops listening */
export function hearTabs(listener: (news: TabNews) => void): () => void {
  const place = open();
  const hear = ({ data }: MessageEvent<unknown>) => {
    if (data === "changed" || data === "out") listener(data);
  };
  place.addEventListener("message", hear);
  return () => place.removeEventListener("message", hear);
}

/** Wipes what this tab keeps of the person: drafts with other people's names, and the mode. */
export function forgetPerson(): void {
  for (const storage of [() => sessionStorage, () => localStorage]) {
    try {
      const kept = storage();
      for (const key of Object.keys(kept))
        if (key.startsWith("signet.send.") || key === "signet.testMode") kept.removeItem(key);
    } catch {
      // Storage is forbidden: nothing was kept.
    }
  }
}

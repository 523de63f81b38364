import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Message } from "../../shared/ipc.ts";
import { goTo } from "../go.ts";
import { pages } from "../pages.ts";

/** Follows what is asked for from outside the page (links, the tray) and by the keyboard: F5, and Ctrl with a digit. */
export function useTold(): void {
  const queries = useQueryClient();
  useEffect(
    () =>
      window.signet.listen((raw) => {
        const message = Message.parse(raw);
        if (message.kind === "page" && pages.some(({ name }) => name === message.page)) goTo(message.page);
      }),
    [],
  );
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const command = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      if (event.key === "F5" || (command && event.key.toLowerCase() === "r")) {
        event.preventDefault();
        void queries.invalidateQueries();
        return;
      }
      const page = command && /^[1-9]$/.test(event.key) ? pages[Number(event.key) - 1] : undefined;
      if (!page) return;
      event.preventDefault();
      goTo(page.name);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [queries]);
}

import { CloseButton } from "@mantine/core";
import { useEffect, useSyncExternalStore } from "react";
import { translator } from "../../i18n.ts";
import { Check, Cross } from "../icons.tsx";

type Toast = { id: number; message: string; tone: "good" | "bad" };

let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Shows a short message at the edge of the window for a few seconds; screen readers speak it. */
export function notify({ message, tone = "good" }: { message: string; tone?: Toast["tone"] }): void {
  last += 1;
  change([...toasts.slice(-2), { id: last, message, tone }]);
}

const dismiss = (id: number) => change(toasts.filter((toast) => toast.id !== id));

function ToastView({ toast }: { toast: Toast }) {
  const { id, message, tone } = toast;
  useEffect(() => {
    // Long enough to read slowly; what went wrong stays until it is closed (WCAG 2.2.1).
    if (tone === "bad") return;
    const timer = setTimeout(dismiss, 4000 + 60 * message.length, id);
    return () => clearTimeout(timer);
  }, [id, message, tone]);
  return (
    <div className="toast" data-tone={tone}>
      <span className="toast-icon">{tone === "good" ? <Check size={18} /> : <Cross size={18} />}</span>
      <span className="toast-text">{message}</span>
      <CloseButton size="sm" aria-label={translator("common")("close")} onClick={() => dismiss(id)} />
    </div>
  );
}

/** Where the messages of `notify` appear; once on every page. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts" role="status" aria-live="polite" aria-atomic="false">
      {shown.map((toast) => (
        <ToastView key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

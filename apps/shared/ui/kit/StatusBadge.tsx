import type { ReactNode } from "react";

export type Tone = "good" | "bad" | "busy" | "waiting" | "neutral";

/** A state in a word; shape and colour only support it. */
export function StatusBadge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className="status-badge" data-tone={tone}>
      <span className="status-dot" aria-hidden="true" />
      {children}
    </span>
  );
}

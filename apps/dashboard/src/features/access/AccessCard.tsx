import type { ReactNode } from "react";
import { useHeading } from "../../../../shared/ui/kit/heading.ts";

/** The one thing that an access page asks for. */
export function AccessCard({ title, lead, children }: { title: string; lead?: ReactNode; children?: ReactNode }) {
  const heading = useHeading(title);
  return (
    <section className="access-card">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {lead && <p className="access-lead">{lead}</p>}
      {children}
    </section>
  );
}

import type { ReactNode } from "react";
import { Brand } from "../../../shared/ui/Brand.tsx";

/** One card in the middle of the window, for what is to be said instead of a status. */
export function Stage({ title, icon, children }: { title: string; icon: ReactNode; children: ReactNode }) {
  return (
    <div className="stage">
      <header className="bar">
        <Brand />
      </header>
      <main>
        <div className="card">
          <div className="view-icon">{icon}</div>
          <h1>{title}</h1>
          {children}
        </div>
      </main>
    </div>
  );
}

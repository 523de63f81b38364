import { Component, type ReactNode } from "react";
import { translator } from "../i18n.ts";
import { Failure } from "./Failure.tsx";

/** Says that the page itself failed, instead of leaving it blank. */
export class Boundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    const t = translator("common");
    return (
      <div className="stage">
        <main>
          <div className="card">
            <h1>{t("broken")}</h1>
            <Failure error={this.state.error} />
            <button type="button" className="plain" onClick={() => window.location.reload()}>
              {t("retry")}
            </button>
          </div>
        </main>
      </div>
    );
  }
}

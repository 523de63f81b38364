import type { ReactNode } from "react";
import type { SigningView } from "../../../../../server/features/signing/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Brand } from "../../../../shared/ui/Brand.tsx";
import { useFocusOnce } from "../../focus.ts";

type Props = { view?: SigningView | undefined; title: string; icon?: ReactNode; children: ReactNode };

/** One card in the middle of the window: everything but the document itself. The heading takes the focus. */
export function Stage({ view, title, icon, children }: Props) {
  const t = translator("sign");
  const heading = useFocusOnce<HTMLHeadingElement>();
  return (
    <div className="stage">
      <header>
        {view?.envelope.testMode && <p className="test-banner">{t("testMode")}</p>}
        <div className="bar">
          <Brand />
          {view && <span className="bar-sender">{view.sender.organization}</span>}
        </div>
      </header>
      <main>
        <div className="card">
          {icon && <div className="card-icon">{icon}</div>}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {children}
        </div>
      </main>
    </div>
  );
}

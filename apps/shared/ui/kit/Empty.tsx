import type { ReactNode } from "react";

type Props = { title: string; text?: ReactNode; action?: ReactNode; icon?: ReactNode };

/** Says why there is nothing to see and what comes next. */
export function Empty({ title, text, action, icon }: Props) {
  return (
    <div className="empty">
      {icon && (
        <div className="empty-icon" aria-hidden="true">
          {icon}
        </div>
      )}
      <h2>{title}</h2>
      {text && <div className="empty-text">{text}</div>}
      {action && <div className="empty-action">{action}</div>}
    </div>
  );
}

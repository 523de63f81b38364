import { type ReactNode, useId } from "react";

type Props = { title: string; text?: ReactNode; children: ReactNode };

/** A part of the account page: what it is about beside what can be done. */
export function AccountSection({ title, text, children }: Props) {
  const heading = useId();
  return (
    <section className="account-section" aria-labelledby={heading}>
      <div className="account-about">
        <h2 id={heading}>{title}</h2>
        {text && <p className="soft">{text}</p>}
      </div>
      <div className="account-body">{children}</div>
    </section>
  );
}

import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useHeading } from "./heading.ts";

type Props = {
  title: string;
  /** Where this page hangs in the tree. */
  back?: { to: NonNullable<LinkProps["to"]>; label: string };
  actions?: ReactNode;
  description?: ReactNode;
};

/** The head of a page: its name (also in the window's title), the way up, and what can be done here. */
export function PageHeader({ title, back, actions, description }: Props) {
  const heading = useHeading(title);
  return (
    <header className="page-header">
      {back && (
        <Link className="page-back" to={back.to}>
          <span aria-hidden="true" className="page-back-arrow">
            ←
          </span>{" "}
          {back.label}
        </Link>
      )}
      <div className="page-header-row">
        <div className="page-header-words">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {description && <div className="page-description">{description}</div>}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </div>
    </header>
  );
}

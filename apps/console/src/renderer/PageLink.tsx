import { type ReactNode, useEffect, useRef } from "react";
import { goTo } from "./go.ts";

type Props = { to: string; children: ReactNode; className?: string; current?: boolean; onGo?: () => void };

/** The way to another page of the console. */
export function PageLink({ to, children, className, current = false, onGo }: Props) {
  const link = useRef<HTMLAnchorElement>(null);
  // Where the list of pages is longer than the window, the one that is shown is in sight.
  useEffect(() => {
    if (current) link.current?.scrollIntoView({ block: "nearest" });
  }, [current]);
  return (
    <a
      ref={link}
      href={`#/${to}`}
      {...(className ? { className } : {})}
      {...(current ? { "aria-current": "page" } : {})}
      onClick={(event) => {
        event.preventDefault();
        onGo?.();
        goTo(to);
      }}
    >
      {children}
    </a>
  );
}

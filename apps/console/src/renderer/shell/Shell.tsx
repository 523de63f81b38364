import { Outlet, useRouterState } from "@tanstack/react-router";
import { type ReactNode, useRef, useState } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { Boundary } from "../../../../shared/ui/Boundary.tsx";
import { Brand } from "../../../../shared/ui/Brand.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { useKeptFocus } from "../../../../shared/ui/kit/useKeptFocus.ts";
import { useConnection, useFreshAfterReturn } from "../connection.ts";
import { pages } from "../pages.ts";
import { Navigation } from "./Navigation.tsx";
import { StateLine } from "./StateLine.tsx";
import { Unavailable } from "./Unavailable.tsx";
import "./shell.css";

const t = translator("console");

/** The frame of every page: where to go, how the appliance is, and in the place of a page what is wrong while it is of no use. */
export function Shell() {
  // Of the page that is shown: the address changes before, and a page drawn anew would take the next one's focus.
  const path = useRouterState({ select: ({ matches }) => matches.at(-1)?.pathname });
  const page = pages.find(({ name }) => `/${name}` === path);
  const connection = useConnection();
  useFreshAfterReturn(connection.data);
  const main = useRef<HTMLElement>(null);
  useKeptFocus(main);
  const ready = page?.offline === true || connection.data?.state === "running";
  return (
    <div className="shell">
      {/* No link: behind `#` stands the page's address. */}
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        {translator("common")("skipToContent")}
      </button>
      <header className="side">
        <Brand />
        <Navigation current={page?.name ?? null} />
        <StateLine connection={connection.data} failed={connection.isError} />
      </header>
      <main id="content" tabIndex={-1} ref={main}>
        {page ? (
          <Boundary key={page.name}>
            <Kept ready={ready}>
              <Outlet />
            </Kept>
            {!ready &&
              (connection.data || connection.isError ? (
                <Unavailable
                  connection={connection.data}
                  checking={connection.isFetching}
                  onCheck={() => void connection.refetch()}
                />
              ) : (
                <Loading />
              ))}
          </Boundary>
        ) : (
          <h1>{t("missing")}</h1>
        )}
      </main>
    </div>
  );
}

/** Begins when it can be of use, and keeps what was typed into it while it cannot. */
function Kept({ ready, children }: { ready: boolean; children: ReactNode }) {
  const [begun, setBegun] = useState(ready);
  if (ready && !begun) setBegun(true);
  return <div hidden={!ready}>{begun && children}</div>;
}

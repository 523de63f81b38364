import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { translator } from "../../../shared/i18n.ts";
import { Brand } from "../../../shared/ui/Brand.tsx";
import { AddressForm } from "./AddressForm.tsx";
import { ask } from "./bridge.ts";
import { Pages } from "./Pages.tsx";
import { StatusCard } from "./StatusCard.tsx";

/** How often the appliance is looked at while the window is visible, in milliseconds. */
const everyMs = 5000;

/** The one page so far: how the appliance is, its public pages, and where it is. */
export function Overview() {
  const t = translator("console");
  const queries = useQueryClient();
  const status = useQuery({ queryKey: ["status"], queryFn: () => ask("status"), refetchInterval: everyMs });

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "F5" && !((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "r")) return;
      event.preventDefault();
      void queries.invalidateQueries({ queryKey: ["status"] });
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [queries]);

  return (
    <div className="console">
      <header className="bar">
        <Brand />
        <span className="soft">{t("console")}</span>
      </header>
      <main>
        <h1>{t("title")}</h1>
        <StatusCard
          status={status.data ?? null}
          failed={status.isError}
          checking={status.isFetching}
          onCheck={() => void status.refetch()}
        />
        <Pages running={status.data?.found.state === "running"} />
        <AddressForm onSaved={() => void queries.invalidateQueries({ queryKey: ["status"] })} />
      </main>
    </div>
  );
}

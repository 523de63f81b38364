import { useMutation } from "@tanstack/react-query";
import { translator } from "../../../shared/i18n.ts";
import { ask } from "./bridge.ts";

/** The appliance's public pages, opened in the default browser. */
export function Pages({ running }: { running: boolean }) {
  const t = translator("console");
  const open = useMutation({
    mutationFn: (page: "start" | "docs" | "verify") => ask("openInBrowser", { page }),
    networkMode: "always",
  });
  return (
    <section className="card" aria-labelledby="pages-title">
      <h2 id="pages-title">{t("pages.title")}</h2>
      <p className="soft">{running ? t("pages.hint") : t("pages.notRunning")}</p>
      <div className="row">
        {(["start", "docs", "verify"] as const).map((page) => (
          <button key={page} type="button" className="button" disabled={!running} onClick={() => open.mutate(page)}>
            {t(`pages.${page}`)}
          </button>
        ))}
      </div>
      {open.isError && (
        <p role="alert" className="notice bad">
          {t("pages.failed")}
        </p>
      )}
    </section>
  );
}

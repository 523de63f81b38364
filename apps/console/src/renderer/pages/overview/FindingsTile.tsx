import { getChecks } from "../../../../../../server/features/health/contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { StatusBadge } from "../../../../../shared/ui/kit/StatusBadge.tsx";
import { Loaded } from "../../Loaded.tsx";
import { useLocal } from "../../local.ts";
import { PageLink } from "../../PageLink.tsx";
import { Findings } from "../diagnostics/Findings.tsx";

const t = translator("console");

/** What is not well, and what to do about it. */
export function FindingsTile() {
  const checks = useLocal(getChecks, {}, { refetchInterval: 60_000 });
  return (
    <section aria-labelledby="tile-findings" className="wide">
      <h2 id="tile-findings">{t("overview.findings")}</h2>
      <Loaded query={checks} rows={2}>
        {({ data, counts }) => {
          const found = data.filter(({ state }) => state !== "ok");
          return found.length === 0 ? (
            <p>
              <StatusBadge tone="good">{t("overview.allWell", { count: counts.ok })}</StatusBadge>
            </p>
          ) : (
            <Findings
              areas
              findings={found.toSorted((a, b) => Number(b.state === "wrong") - Number(a.state === "wrong"))}
            />
          );
        }}
      </Loaded>
      <PageLink to="diagnostics">{t("diagnostics.nav")}</PageLink>
    </section>
  );
}

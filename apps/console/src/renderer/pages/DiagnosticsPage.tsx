import { Button, Group } from "@mantine/core";
import { useState } from "react";
import { type Checks, checkAreas, getChecks } from "../../../../../server/features/health/contract.ts";
import { dateTime, translator } from "../../../../shared/i18n.ts";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { Loaded } from "../Loaded.tsx";
import { useLocal } from "../local.ts";
import { Findings } from "./diagnostics/Findings.tsx";
import { SupportBundle } from "./diagnostics/SupportBundle.tsx";

const t = translator("console");

/** Everything that is looked at, what to do about what is wrong, and a file for whoever helps. */
export function DiagnosticsPage() {
  const [thorough, setThorough] = useState(false);
  const checks = useLocal(getChecks, thorough ? { query: { thorough: "true" } } : {}, { keepPrevious: true });
  const run = (all: boolean) => {
    if (all === thorough) void checks.refetch();
    else setThorough(all);
  };
  return (
    <>
      <PageHeader
        title={t("diagnostics.nav")}
        description={t("diagnostics.description")}
        actions={
          <Group>
            <Button variant="default" loading={checks.isFetching && !thorough} onClick={() => run(false)}>
              {t("diagnostics.again")}
            </Button>
            <Button variant="default" loading={checks.isFetching && thorough} onClick={() => run(true)}>
              {t("diagnostics.thorough")}
            </Button>
          </Group>
        }
      />
      <Loaded query={checks} rows={8}>
        {(found) => <Areas checks={found} />}
      </Loaded>
      <div className="sections below">
        <section aria-labelledby="support-bundle">
          <h2 id="support-bundle">{t("diagnostics.bundle")}</h2>
          <SupportBundle />
        </section>
      </div>
    </>
  );
}

function Areas({ checks: { at, counts, data } }: { checks: Checks }) {
  return (
    <>
      <p role="status">{t("diagnostics.summary", { ...counts, at: dateTime(at) })}</p>
      <div className="sections">
        {checkAreas.map((area) => {
          const inside = data.filter((one) => one.area === area);
          if (inside.length === 0) return null;
          return (
            <section key={area} aria-labelledby={`area-${area}`}>
              <h2 id={`area-${area}`}>{t(`diagnostics.area.${area}`)}</h2>
              <Findings findings={inside} />
            </section>
          );
        })}
      </div>
    </>
  );
}

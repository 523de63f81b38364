import { Progress } from "@mantine/core";
import type { ApplianceStatus } from "../../../../../../server/features/appliance/status-contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { StatusBadge } from "../../../../../shared/ui/kit/StatusBadge.tsx";
import { bytes } from "../../bytes.ts";

const t = translator("console");

/** How full the volume is, and when it will be. */
export function StorageTile({ storage }: { storage: ApplianceStatus["storage"] }) {
  const { usedBytes, databaseBytes, documentBytes, freeBytes, volumeBytes, growthBytesPerDay, daysUntilFull } = storage;
  const full = volumeBytes > 0 ? Math.round((100 * (volumeBytes - freeBytes)) / volumeBytes) : 0;
  // The appliance warns from 80 % on, and takes no new documents from 95 % on.
  const tone = full >= 95 ? "bad" : full >= 80 ? "waiting" : "good";
  return (
    <section aria-labelledby="tile-storage">
      <h2 id="tile-storage">{t("overview.storage")}</h2>
      <p>
        <StatusBadge tone={tone}>{t("overview.full", { percent: full })}</StatusBadge>
      </p>
      <Progress value={full} color={tone === "bad" ? "brick" : "spruce"} aria-label={t("overview.storage")} mb="sm" />
      <dl className="facts">
        <dt>{t("overview.free")}</dt>
        <dd>
          {bytes(freeBytes)} / {bytes(volumeBytes)}
        </dd>
        <dt>{t("overview.used")}</dt>
        <dd>{bytes(usedBytes)}</dd>
        <dt>{t("overview.database")}</dt>
        <dd>{bytes(databaseBytes)}</dd>
        <dt>{t("overview.documents")}</dt>
        <dd>{bytes(documentBytes)}</dd>
        <dt>{t("overview.forecast")}</dt>
        <dd>
          {daysUntilFull !== null
            ? t("overview.days", { count: daysUntilFull })
            : growthBytesPerDay === null
              ? t("overview.notYet")
              : t("overview.noGrowth")}
        </dd>
      </dl>
    </section>
  );
}

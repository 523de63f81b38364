import type { ApplianceStatus } from "../../../../../../server/features/appliance/status-contract.ts";
import { dateTime, translator } from "../../../../../shared/i18n.ts";
import { StatusBadge } from "../../../../../shared/ui/kit/StatusBadge.tsx";
import { PageLink } from "../../PageLink.tsx";
import { expiryTone } from "../expiry.ts";

const t = translator("console");

/** When certificates and keys end, soonest first. */
export function ExpiryTile({ expiries }: { expiries: ApplianceStatus["expiries"] }) {
  return (
    <section aria-labelledby="tile-expiry">
      <h2 id="tile-expiry">{t("overview.expiries")}</h2>
      <ul className="findings">
        {expiries.map(({ what, validUntil }) => (
          <li key={`${what} ${validUntil}`}>
            <StatusBadge tone={expiryTone(validUntil)}>{t(`overview.expiry.${expiryTone(validUntil)}`)}</StatusBadge>
            <div>
              {what === "tls" ? t("overview.certificate") : t(`keys.use.${what}`)}
              <div className="soft small">
                <time dateTime={validUntil}>{dateTime(validUntil)}</time>
              </div>
            </div>
          </li>
        ))}
      </ul>
      <PageLink to="keys">{t("keys.nav")}</PageLink>
    </section>
  );
}

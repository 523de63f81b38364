import type { TlsCertificate } from "../../../../../../server/features/tls/contract.ts";
import { dateTime, translator } from "../../../../../shared/i18n.ts";
import { StatusBadge } from "../../../../../shared/ui/kit/StatusBadge.tsx";
import { wordsOf } from "../../finding-words.ts";
import { Words } from "../../Said.tsx";
import { expiryTone } from "../expiry.ts";

const t = translator("console");

/** What a certificate says, and what is wrong with it. */
export function Certificate({ certificate }: { certificate: TlsCertificate }) {
  const { source, subject, issuer, names, validFrom, validUntil, sha256, key, chainLength, warnings } = certificate;
  const tone = expiryTone(validUntil);
  return (
    <>
      <p className="badges">
        <StatusBadge tone={tone}>{t(`overview.expiry.${tone}`)}</StatusBadge>
        <StatusBadge tone="neutral">{t(`network.source.${source}`)}</StatusBadge>
      </p>
      {warnings.length > 0 && (
        <ul className="notice bad">
          {warnings.map(({ code, params, message }) => (
            <li key={message}>
              <Words>{wordsOf("findings", `tlsWarning.${code}`, params, message)}</Words>
            </li>
          ))}
        </ul>
      )}
      <dl className="facts">
        <dt>{t("network.names")}</dt>
        <dd>{names.join(", ")}</dd>
        <dt>{t("network.subject")}</dt>
        <dd>{subject}</dd>
        <dt>{t("network.issuer")}</dt>
        <dd>{issuer}</dd>
        <dt>{t("network.validity")}</dt>
        <dd>
          <time dateTime={validFrom}>{dateTime(validFrom)}</time> –{" "}
          <time dateTime={validUntil}>{dateTime(validUntil)}</time>
        </dd>
        <dt>{t("network.key")}</dt>
        <dd>{key}</dd>
        <dt>{t("network.chain")}</dt>
        <dd>{t("network.chainLength", { count: chainLength })}</dd>
        <dt>SHA-256</dt>
        <dd>
          <code>{sha256}</code>
        </dd>
      </dl>
    </>
  );
}

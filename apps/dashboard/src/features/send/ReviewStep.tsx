import { useEffect, useMemo, useRef, useState } from "react";
import { createEnvelope, type EnvelopeDryRun } from "../../../../../server/features/envelopes/contract.ts";
import { renderTemplate, rolesWithoutSignature } from "../../../../../server/features/templates/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { dateTime, translator } from "../../../../shared/i18n.ts";
import { PdfPages } from "../../../../shared/pdf/PdfPages.tsx";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { Warnings } from "../templates/Warnings.tsx";
import type { Form } from "./form.ts";

const t = translator("send");
const noPages: never[] = [];

/** What the service says to the draft, and the document as it will look. */
export function ReviewStep({ form, testMode }: { form: Form; testMode: boolean }) {
  const { request } = form;
  const dry = useEndpoint(createEnvelope, {
    query: { dry_run: "1", test_mode: testMode ? "1" : "0" },
    body: request,
  });
  const { refuse } = form;
  const told = useRef<unknown>(null);
  useEffect(() => {
    // Each refusal is shown once: whoever comes back to look at it is not sent away again.
    if (!dry.error || told.current === dry.error) return;
    told.current = dry.error;
    refuse(dry.error);
  }, [dry.error, refuse]);
  const result = dry.data && "dryRun" in dry.data ? dry.data : null;
  return (
    <div className="send-review">
      <div className="send-summary">
        {dry.isPending && <Loading rows={4} />}
        {dry.isError && <Failure error={dry.error} />}
        {result && <Summary form={form} result={result} />}
      </div>
      <Preview form={form} />
    </div>
  );
}

function Summary({ form, result }: { form: Form; result: EnvelopeDryRun }) {
  const { draft, version, timeZone, request } = form;
  const expires = request.expiresAt;
  const { content, roles } = version;
  const unsigned = content.mode === "overlay" ? rolesWithoutSignature({ roles, items: content.items }) : [];
  // This one is said above, with the names of the roles.
  const warnings = result.warnings.filter(({ code }) => code !== "no-signature-field");
  const isSigner = (role: string) => version.roles.some(({ name, kind }) => name === role && kind === "signer");
  return (
    <>
      <dl className="send-facts" data-checked>
        <dt>{t("review.pages")}</dt>
        <dd>{t("template.pages", { count: result.pageCount })}</dd>
        <dt>{t("review.signers")}</dt>
        <dd>
          <ol className="send-signers">
            {result.recipients
              .toSorted((a, b) => a.order - b.order)
              .map((recipient) => (
                <li key={recipient.role}>
                  <span className="send-turn" aria-hidden="true">
                    {recipient.order}
                  </span>
                  <span>
                    <strong>{recipient.name}</strong> <span className="soft">{recipient.email}</span>
                    <br />
                    <span className="soft">
                      {recipient.role} · {t("review.fields", { count: recipient.fields })}
                      {isSigner(recipient.role) && ` · ${t(`verification.${recipient.verification}`)}`}
                    </span>
                  </span>
                </li>
              ))}
          </ol>
        </dd>
        {draft.cc.length > 0 && (
          <>
            <dt>{t("cc.title")}</dt>
            <dd>{draft.cc.map(({ email }) => email).join(", ")}</dd>
          </>
        )}
        {draft.viewers.length > 0 && (
          <>
            <dt>{t("viewers.title")}</dt>
            <dd>
              {draft.viewers.map(({ email }) => email).join(", ")}
              <br />
              <span className="soft">{draft.viewerDocumentAccess ? t("review.access") : t("review.noAccess")}</span>
            </dd>
          </>
        )}
        {expires && (
          <>
            <dt>{t("review.expires")}</dt>
            <dd>{dateTime(expires, timeZone)}</dd>
          </>
        )}
        <dt>{t("review.plan")}</dt>
        <dd>{result.wouldCount ? t("review.counts") : t("review.countsNot")}</dd>
      </dl>
      {result.unusedVariables.length > 0 && (
        <div className="notice">{t("review.unused", { names: result.unusedVariables.join(", ") })}</div>
      )}
      {unsigned.length > 0 && (
        <div className="notice warn">
          <strong>{t("review.unsignedTitle")}</strong>
          {t("review.unsigned", { roles: unsigned.map(({ name }) => name).join(", "), count: unsigned.length })}
        </div>
      )}
      <Warnings warnings={warnings} />
    </>
  );
}

function Preview({ form }: { form: Form }) {
  const { version, request } = form;
  const body = useMemo(() => {
    const { variables, values, locale } = request;
    return {
      ...(variables ? { variables } : {}),
      ...(values ? { values } : {}),
      ...(locale ? { locale } : {}),
    };
  }, [request]);
  const drawn = useEndpoint(renderTemplate, {
    params: { id: version.template, version: String(version.version ?? "latest") },
    body,
  });
  const [failure, setFailure] = useState<unknown>(null);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard (WCAG 2.1.1)
    <section className="send-preview" aria-label={t("review.preview")} tabIndex={0}>
      <p className="send-preview-note">{t("review.previewText")}</p>
      {drawn.isPending && <Loading rows={1} height={420} />}
      {(drawn.isError || failure !== null) && <Failure error={drawn.error ?? failure} />}
      {drawn.data && <PdfPages bytes={drawn.data.bytes} pages={noPages} onFailure={setFailure} />}
    </section>
  );
}

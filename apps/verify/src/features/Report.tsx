import { type ReactNode, useEffect, useRef } from "react";
import type { EnvelopeSummary } from "../../../../server/features/evidence/contract.ts";
import type { Step } from "../../../../server/features/evidence/verify.ts";
import { dateTime, translator } from "../../../shared/i18n.ts";
import { Check, Clock, Cross, Question, Shield } from "../../../shared/ui/icons.tsx";
import type { Outcome, Verdict } from "./check.ts";

const signs: Record<Verdict, ReactNode> = {
  anchored: <Shield size={34} />,
  pending: <Clock size={34} />,
  unknown: <Question size={34} />,
  wrong: <Cross size={34} />,
};

/** The verdict, what it is about, and each step of the check with its bytes. */
export function Report({ outcome }: { outcome: Outcome }) {
  const t = translator("verify");
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const { verdict, result, report, file } = outcome;
  const at = result.envelope ? dateTime(result.envelope.sealedAt) : "";
  return (
    <article className="card report" data-verdict={verdict}>
      <header>
        <span className="sign">{signs[verdict]}</span>
        <div>
          <h2 ref={heading} tabIndex={-1}>
            {t(`verdict.${verdict}`)}
          </h2>
          <p>{t(`explain.${verdict}`, { at })}</p>
        </div>
      </header>
      <dl>
        {result.envelope && <Facts envelope={result.envelope} />}
        <dt>{t("facts.file")}</dt>
        <dd>{file.name}</dd>
        <dt>{t("facts.sha256")}</dt>
        <dd>
          <code>{file.sha256}</code>
        </dd>
      </dl>
      {result.envelope?.testMode && <p className="test-note">{t("facts.test")}</p>}
      {report && (
        <section>
          <h3>{t("steps.heading")}</h3>
          <p className="soft">{t("steps.hint")}</p>
          <ol className="steps">
            {report.steps.map((step) => (
              <StepRow key={step.name} step={step} />
            ))}
          </ol>
        </section>
      )}
    </article>
  );
}

function Facts({ envelope }: { envelope: EnvelopeSummary }) {
  const t = translator("verify");
  return (
    <>
      <dt>{t("facts.title")}</dt>
      <dd>{envelope.title}</dd>
      <dt>{t("facts.organization")}</dt>
      <dd>{envelope.organization}</dd>
      <dt>{t("facts.sealed")}</dt>
      <dd>{dateTime(envelope.sealedAt)}</dd>
      <dt>{t("facts.signers")}</dt>
      <dd>
        {envelope.signers.map((signer) => (
          <span className="line" key={`${signer.role} ${signer.completedAt}`}>
            {t("facts.signed", { role: signer.role, at: dateTime(signer.completedAt) })}
          </span>
        ))}
      </dd>
      <dt>{t("facts.pages")}</dt>
      <dd>{envelope.pageCount}</dd>
    </>
  );
}

function StepRow({ step }: { step: Step }) {
  const t = translator("verify");
  return (
    <li data-ok={step.ok || undefined}>
      <details>
        <summary>
          {step.ok ? <Check size={20} /> : <Cross size={20} />}
          <span>{t(`steps.${step.name}`)}</span>
          <span className="spoken">{t(step.ok ? "steps.holds" : "steps.fails")}</span>
        </summary>
        <p>{step.detail}</p>
        <dl>
          {step.bytes.map(({ label, value }) => (
            <div key={`${label} ${value}`}>
              <dt>{label}</dt>
              <dd>
                <code>{value}</code>
              </dd>
            </div>
          ))}
        </dl>
      </details>
    </li>
  );
}

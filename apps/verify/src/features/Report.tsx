import { Button } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { type Translate, translatorOf, type Words } from "../../../../locales/translate.ts";
import type { EnvelopeSummary } from "../../../../server/features/evidence/contract.ts";
import { type Step, saidStep } from "../../../../server/features/evidence/verify.ts";
import { findingText } from "../../../../server/features/evidence/words.ts";
import { type Catalogues, dateTime, messageOf, translator } from "../../../shared/i18n.ts";
import { servedWords } from "../../../shared/served-words.ts";
import { Check, Clock, Cross, Eye, Question, Shield } from "../../../shared/ui/icons.tsx";
import { certificateOf, type Outcome, type Verdict } from "./check.ts";

const signs: Record<Verdict, ReactNode> = {
  anchored: <Shield size={34} />,
  pending: <Clock size={34} />,
  certificate: <Shield size={34} />,
  "certificate-pending": <Clock size={34} />,
  "certificate-unnamed": <Question size={34} />,
  wrong: <Cross size={34} />,
  altered: <Cross size={34} />,
  elsewhere: <Question size={34} />,
  unsealed: <Question size={34} />,
  "not-pdf": <Question size={34} />,
  encrypted: <Question size={34} />,
  unreadable: <Question size={34} />,
  "too-large": <Question size={34} />,
};

/** The verdict, what it is about, and each step of the check with its bytes. */
export function Report({ outcome, focus }: { outcome: Outcome; focus: boolean }) {
  const t = translator("verify");
  const heading = useRef<HTMLHeadingElement>(null);
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (focus) heading.current?.focus();
  }, [focus]);
  useEffect(() => {
    // On paper nothing can be opened any more.
    const open = () => {
      for (const details of card.current?.querySelectorAll("details") ?? []) details.open = true;
    };
    window.addEventListener("beforeprint", open);
    return () => window.removeEventListener("beforeprint", open);
  }, []);
  const { verdict, result, record, pdf, seals, file } = outcome;
  const certificate = certificateOf(result);
  const envelope = certificate?.envelope ?? result.envelope;
  // What else is a certificate is one by the service's word alone, or not even that.
  const isBound = verdict === "certificate" || verdict === "certificate-pending";
  const about = { at: envelope ? dateTime(envelope.sealedAt) : "", title: envelope?.title ?? "" };
  return (
    <article className="card report" data-verdict={verdict} ref={card}>
      <header>
        <span className="sign">{signs[verdict]}</span>
        <div>
          <h2 ref={heading} tabIndex={-1}>
            {t(`verdict.${verdict}`)}
          </h2>
          <p>{t(`explain.${verdict}`, about)}</p>
        </div>
      </header>
      <dl>
        {envelope && (isBound || !certificate) && <Facts envelope={envelope} />}
        {certificate && isBound && (
          <>
            <dt>{t("facts.envelope")}</dt>
            <dd>
              <code>{certificate.leaf.envelope}</code>
            </dd>
            <dt>{t("facts.documentSha256")}</dt>
            <dd>
              <code>{certificate.leaf.documentSha256}</code>
            </dd>
          </>
        )}
        <dt>{t("facts.file")}</dt>
        <dd>{file.name}</dd>
        <dt>{t("facts.sha256")}</dt>
        <dd>
          <code>{file.sha256}</code>
        </dd>
      </dl>
      {envelope?.testMode && <p className="test-note">{t("facts.test")}</p>}
      <StepList heading={t("steps.heading")} hint={t("steps.hint")} steps={record} />
      <StepList heading={t("steps.pdf")} hint={t("steps.pdfHint")} steps={pdf} />
      {seals === null && <p className="test-note">{t("steps.tooLarge")}</p>}
      <Actions outcome={outcome} />
    </article>
  );
}

function StepList({ heading, hint, steps }: { heading: string; hint: string; steps: readonly Step[] }) {
  if (steps.length === 0) return null;
  return (
    <section>
      <h3>{heading}</h3>
      <p className="soft">{hint}</p>
      <ol className="steps">
        {steps.map((step) => (
          <StepRow key={`${step.name} ${step.values.field ?? ""}`} step={step} />
        ))}
      </ol>
    </section>
  );
}

function Actions({ outcome }: { outcome: Outcome }) {
  const t = translator("verify");
  const [said, setSaid] = useState("");
  const inEnglish = useEnglishEvidence();
  const copy = async () => {
    const { verdict, file, result, record, pdf, seals } = outcome;
    try {
      // Reports go to support, so they are in English, as on the command line. Nothing is awaited before the text is written:
      // browsers let a page write to the clipboard only within the click.
      const steps = [...record, ...pdf].map((step) => saidStep(inEnglish, step));
      const report = { v: 1, verdict, file, evidence: result, steps, seals };
      await navigator.clipboard.writeText(JSON.stringify(report, null, 2));
      setSaid(t("copied"));
    } catch {
      setSaid(t("notCopied"));
    }
  };
  return (
    <div className="actions">
      <Button variant="default" onClick={() => void copy()}>
        {t("copy")}
      </Button>
      <Button variant="default" onClick={() => window.print()}>
        {t("print")}
      </Button>
      <span className="soft" role="status">
        {said}
      </span>
    </div>
  );
}

/** The words of the evidence in English; in the language of the page while they are not there. */
function useEnglishEvidence(): Translate<Catalogues["evidence"]> {
  const [words, setWords] = useState<Words | null>(null);
  useEffect(() => {
    servedWords.load("en", "evidence").then(setWords, () => undefined);
  }, []);
  return words === null ? translator("evidence") : translatorOf<Catalogues["evidence"]>(words, "en");
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
  const evidence = translator("evidence");
  const state = step.ok === null ? "note" : step.ok ? "holds" : "fails";
  return (
    <li data-step={step.name} data-ok={step.ok ?? undefined} data-state={state}>
      {/* What does not hold is open: nobody should have to look for it. */}
      <details open={step.ok === false}>
        <summary>
          {step.ok === null ? <Eye size={20} /> : step.ok ? <Check size={20} /> : <Cross size={20} />}
          <span>{evidence(`titles.${step.name}`)}</span>
          <span className="state">{t(`steps.${state}`)}</span>
        </summary>
        <p>{findingText(evidence, step.code, step.values, dateTime)}</p>
        <dl>
          {step.bytes.map(({ label, value }) => (
            <div key={`${label} ${value}`}>
              <dt>{messageOf("evidence", `labels.${label}`) ?? label}</dt>
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

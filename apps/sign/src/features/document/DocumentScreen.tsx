import { useCallback, useEffect, useRef, useState } from "react";
import type { SigningResult, SubmitSigning } from "../../../../../server/features/signing/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { PdfPages, scaleOf } from "../../../../shared/pdf/PdfPages.tsx";
import { Brand } from "../../../../shared/ui/Brand.tsx";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { SignatureDialog } from "../../../../shared/ui/signature/SignatureDialog.tsx";
import type { ScreenProps } from "../../routes.tsx";
import { DeclineDialog } from "../finish/DeclineDialog.tsx";
import { FinishDialog } from "../finish/FinishDialog.tsx";
import { Parties } from "../finish/Parties.tsx";
import { ReassignDialog } from "../finish/ReassignDialog.tsx";
import { type WayOut, WaysOut } from "../finish/WaysOut.tsx";
import { FieldOverlay, isDocked } from "./FieldOverlay.tsx";
import { submittedFields } from "./fields.ts";
import { GuideBar } from "./GuideBar.tsx";
import { FillingContext } from "./store.ts";
import { useDocument } from "./useDocument.ts";
import { useFillingState } from "./useFilling.ts";
import { useSavedSignature } from "./useSavedSignature.ts";
import { useNarrow } from "./window.ts";
import "./document.css";

/** The document with its fields, the guide through them, and the ways out: sign or decline. */
export default function DocumentScreen(props: ScreenProps) {
  const { view, access, finish, passOn } = props;
  const t = translator("sign");
  const narrow = useNarrow();
  const [width, setWidth] = useState(0);
  const [zoom, setZoom] = useState(1);
  const [asking, setAsking] = useState<"finish" | WayOut | null>(null);
  const [broken, setBroken] = useState<unknown>(null);
  const document = useDocument(view, access.token);
  const saved = useSavedSignature(view);
  const { filling, dialog, closeDialog, place, refuse, showLost, settle } = useFillingState(view, access.token);
  const { fields, answers, current } = filling;
  const field = fields.find((candidate) => candidate.id === current);
  const page = view.document?.pages.find((candidate) => candidate.page === field?.boxes[0]?.page);
  const docked = field !== undefined && page !== undefined && isDocked(field, scaleOf(page, width, zoom), narrow);
  const heading = useRef<HTMLHeadingElement>(null);
  const main = useRef<HTMLElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);

  const overlay = useCallback(
    (page: number, scaleOfPage: number) => <FieldOverlay page={page} scale={scaleOfPage} narrow={narrow} />,
    [narrow],
  );
  const submission = (): Omit<SubmitSigning, "consent"> => ({
    documentSha256: view.document?.sha256 ?? "",
    fields: submittedFields(fields, answers),
    ...(answers.signature && { signature: answers.signature }),
    ...(answers.initials && { initials: answers.initials }),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  });
  const leave = async (result: SigningResult) => {
    settle();
    await finish(result);
  };
  return (
    <FillingContext value={filling}>
      {/* No link: what follows `#` in the address of this page is a token. */}
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        {translator("common")("skipToContent")}
      </button>
      <header className="document-head">
        {view.envelope.testMode && <p className="test-banner">{t("testMode")}</p>}
        <div className="bar document-bar">
          <Brand />
          <h1 ref={heading} tabIndex={-1} dir="auto">
            {view.envelope.title}
          </h1>
          {!narrow && <Zoom zoom={zoom} onZoom={setZoom} />}
          <WaysOut view={view} onAsk={setAsking} />
        </div>
      </header>
      <main ref={main} className="document" tabIndex={-1}>
        <section className="intro">
          <p className="intro-lead">
            {t("intro.lead", { sender: view.sender.name ?? view.sender.organization, name: view.recipient.name })}
          </p>
          {view.envelope.message && <blockquote dir="auto">{view.envelope.message}</blockquote>}
          {view.parties.length > 1 && <Parties view={view} />}
        </section>
        {(document.isError || broken !== null) && <Failure error={document.error ?? broken} />}
        {view.document && (
          <PdfPages
            bytes={document.data?.bytes ?? null}
            pages={view.document.pages}
            zoom={zoom}
            overlay={overlay}
            onWidth={setWidth}
            onFailure={setBroken}
          />
        )}
      </main>
      <GuideBar docked={docked} onFinish={() => showLost() || setAsking("finish")} />
      {dialog && (
        <SignatureDialog
          kind={dialog.kind}
          methods={view.signature.methods}
          fonts={view.signature.fonts}
          name={view.recipient.name}
          saved={dialog.kind === "signature" ? saved : null}
          before={answers[dialog.kind]}
          onClose={closeDialog}
          onSave={(signature) => place(dialog.field, dialog.kind, signature)}
        />
      )}
      {asking === "finish" && (
        <FinishDialog
          {...props}
          submission={submission}
          onClose={() => setAsking(null)}
          onSigned={leave}
          onRefused={refuse}
        />
      )}
      {asking === "decline" && <DeclineDialog {...props} onClose={() => setAsking(null)} onDeclined={leave} />}
      {asking === "reassign" && (
        <ReassignDialog
          {...props}
          onClose={() => setAsking(null)}
          onPassed={async (person) => {
            settle();
            await passOn(person);
          }}
        />
      )}
    </FillingContext>
  );
}

function Zoom({ zoom, onZoom }: { zoom: number; onZoom: (zoom: number) => void }) {
  const t = translator("sign");
  const steps = [0.75, 1, 1.25, 1.5, 2];
  const at = steps.indexOf(zoom);
  const to = (index: number) => onZoom(steps[index] ?? 1);
  return (
    <fieldset className="zoom" aria-label={t("zoom.label")}>
      <button type="button" aria-label={t("zoom.out")} disabled={at === 0} onClick={() => to(at - 1)}>
        −
      </button>
      <output>{Math.round(zoom * 100)}%</output>
      <button type="button" aria-label={t("zoom.in")} disabled={at === steps.length - 1} onClick={() => to(at + 1)}>
        +
      </button>
    </fieldset>
  );
}

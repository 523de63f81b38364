import { Loader } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, use, useEffect, useState } from "react";
import { getSigningSession, type SigningResult, type SigningView } from "../../../server/features/signing/contract.ts";
import { callEndpoint } from "../../shared/api/client.ts";
import { translator } from "../../shared/i18n.ts";
import { Failure } from "../../shared/ui/Failure.tsx";
import { type Entry, forget, rememberPassed } from "./features/access/access.ts";
import { tellParent } from "./features/access/embedding.ts";
import type { Passed } from "./features/access/kept.ts";
import { isTokenProblem, LinkProblem, NoLink } from "./features/access/LinkProblem.tsx";
import { Stage } from "./features/access/Stage.tsx";
import { CodeScreen } from "./features/code/CodeScreen.tsx";
import { ClosedScreen, DeclinedScreen, PassedScreen, WaitingScreen } from "./features/finish/EndScreens.tsx";

const DocumentScreen = lazy(() => import("./features/document/DocumentScreen.tsx"));
const DoneScreen = lazy(() => import("./features/finish/DoneScreen.tsx"));

/** The signing page: which screen stands follows from the link and from the state of the session. */
export function Sign({ entry }: { entry: Promise<Entry> }) {
  return (
    <Suspense fallback={<Waiting />}>
      <Entered entry={entry} />
    </Suspense>
  );
}

function Entered({ entry }: { entry: Promise<Entry> }) {
  const entered = use(entry);
  if (entered.kind === "none") return <NoLink />;
  if (entered.kind === "passed") return <PassedScreen passed={entered.passed} />;
  if (entered.kind === "refused") {
    return isTokenProblem(entered.error) ? (
      <LinkProblem error={entered.error} link={entered.link} />
    ) : (
      <Trouble error={entered.error} />
    );
  }
  return <Session {...entered} />;
}

export type Access = { token: string; link: string | null; embedOrigin: string | null };

function Session(access: Access) {
  const { token, link, embedOrigin } = access;
  const queries = useQueryClient();
  const [result, setResult] = useState<SigningResult | null>(null);
  const [passed, setPassed] = useState<Passed | null>(null);
  const session = useQuery({
    queryKey: ["session", token],
    queryFn: ({ signal }) => callEndpoint(getSigningSession, { token, signal }),
    // Who passed it on has no session any more.
    enabled: passed === null,
    refetchInterval: ({ state: { data, error } }) => {
      // A screen may wait for the state that this call did not bring.
      if (data && error && !isTokenProblem(error)) return 4_000;
      return data ? pauseBefore(data) : false;
    },
  });
  const view = session.data;
  const envelope = view?.envelope.id;
  const recipient = view?.recipient.id;
  useEffect(() => {
    if (envelope && recipient) tellParent(embedOrigin, { type: "ready", envelope, recipient });
  }, [embedOrigin, envelope, recipient]);
  const ended = passed === null && session.isError && isTokenProblem(session.error);
  useEffect(() => {
    if (ended) void forget();
  }, [ended]);
  if (passed) return <PassedScreen passed={passed} />;
  if (ended) return <LinkProblem error={session.error} link={link} />;
  if (!view) return session.isError ? <Trouble error={session.error} /> : <Waiting />;
  const reload = () => queries.invalidateQueries({ queryKey: ["session", token] });
  const finish = async (finished: SigningResult) => {
    setResult(finished);
    const type = finished.status === "declined" ? "declined" : "signed";
    tellParent(embedOrigin, { type, envelope: view.envelope.id, recipient: view.recipient.id });
    await reload();
  };
  const passOn = async ({ name, email }: Pick<Passed, "name" | "email">) => {
    const { title, id } = view.envelope;
    const to = { name, email, title, organization: view.sender.organization };
    await rememberPassed(to);
    setPassed(to);
    tellParent(embedOrigin, { type: "exit", envelope: id, recipient: view.recipient.id });
  };
  return <Screen {...{ view, access, result, reload, finish, passOn }} />;
}

/** Milliseconds until the session is asked for again, or false when nothing can change. */
function pauseBefore(view: SigningView): number | false {
  switch (view.state) {
    // Others may finish meanwhile, and the seal follows the last signature.
    case "waiting":
      return 4_000;
    case "completed":
      return view.envelope.sealed ? false : 4_000;
    // Access ends 60 minutes after the last call: whoever reads slowly must not lose what they filled in.
    case "ready":
      return 300_000;
    default:
      return false;
  }
}

export type ScreenProps = {
  view: SigningView;
  access: Access;
  /** What came of signing or declining on this page; null when that was earlier or is still to come. */
  result: SigningResult | null;
  reload: () => Promise<void>;
  finish: (result: SigningResult) => Promise<void>;
  /** The service gave the signing to this person: nothing is left to be done here. */
  passOn: (person: { name: string; email: string }) => Promise<void>;
};

function Screen(props: ScreenProps) {
  switch (props.view.state) {
    case "otp_required":
      return <CodeScreen {...props} />;
    case "ready":
      return <DocumentScreen {...props} />;
    case "completed":
      return <DoneScreen {...props} />;
    case "waiting":
      return <WaitingScreen {...props} />;
    case "declined":
      return <DeclinedScreen {...props} />;
    case "closed":
      return <ClosedScreen {...props} />;
  }
}

function Waiting() {
  const t = translator("common");
  return (
    <div className="waiting" role="status">
      <Loader aria-hidden="true" />
      <span className="spoken">{t("loading")}</span>
    </div>
  );
}

function Trouble({ error }: { error: unknown }) {
  const t = translator("sign");
  return (
    <Stage title={t("trouble")}>
      <Failure error={error} />
      <button type="button" className="plain" onClick={() => window.location.reload()}>
        {translator("common")("retry")}
      </button>
    </Stage>
  );
}

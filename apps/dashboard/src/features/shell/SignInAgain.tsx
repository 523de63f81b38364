import { Button, Group } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import type { DashboardSession } from "../../../../../server/features/identity/session-contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import { enterSession, sameWork, sessionQuery, useSession } from "../../session.tsx";
import { SignInForm, type SignInStep } from "../access/SignInForm.tsx";
import "../access/access.css";

const t = translator("shell");
const common = translator("common");

type Props = { opened: boolean; reason: "old" | "ended"; onClose: (signedIn: boolean) => void };

/** Signs the same person in again over the page, so that nothing on it is lost. */
export function SignInAgain({ opened, reason, onClose }: Props) {
  return (
    <Dialog
      opened={opened}
      onClose={() => onClose(false)}
      title={t(`again.${reason}`)}
      centered
      closeOnClickOutside={false}
    >
      <Inside reason={reason} onClose={onClose} />
    </Dialog>
  );
}

function Inside({ reason, onClose }: Omit<Props, "opened">) {
  const queries = useQueryClient();
  const { user } = useSession();
  const [step, setStep] = useState<SignInStep>({ name: "start" });
  const onSignedIn = useCallback(
    (session: DashboardSession) => {
      // A passkey may belong to somebody else: then nothing on this page is theirs.
      if (session.user.id !== user.id) return window.location.assign("/");
      const before = queries.getQueryData<DashboardSession>(sessionQuery.queryKey);
      const same = before !== undefined && sameWork(before, session);
      if (same) queries.setQueryData(sessionQuery.queryKey, session);
      else enterSession(queries, session);
      // What was asked for in one organization is not repeated in another.
      onClose(same);
    },
    [user.id, queries, onClose],
  );
  return (
    <div className="again">
      {step.name === "start" && <p>{t(`again.${reason}Text`)}</p>}
      <SignInForm
        step={step}
        onStep={setStep}
        onSignedIn={onSignedIn}
        email={user.email}
        withPassword={user.hasPassword}
      />
      <Group justify="flex-end" mt="md">
        <Button variant="subtle" color="gray" onClick={() => onClose(false)}>
          {common("cancel")}
        </Button>
      </Group>
    </div>
  );
}

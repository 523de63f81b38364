import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { whenOutdated, whenSignedOut } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { useSignInAgain } from "../../../../shared/ui/kit/useFresh.tsx";
import { sessionQuery, useSession } from "../../session.tsx";
import { forgetPerson, hearTabs } from "../../tabs.ts";

/** Watches the session: asks to sign in again when it has ended, and says so when it works in another organization now. */
export function SessionGuard() {
  const session = useSession();
  const signInAgain = useSignInAgain();
  const queries = useQueryClient();
  useEffect(() => whenSignedOut(() => signInAgain("ended")), [signInAgain]);
  useEffect(() => {
    const renew = () => void queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
    const stop = [
      whenOutdated(renew),
      hearTabs((news) => {
        if (news === "changed") return renew();
        forgetPerson();
        window.location.assign("/sign-in");
      }),
    ];
    return () => {
      for (const each of stop) each();
    };
  }, [queries]);

  // Somebody else has signed in in another tab: a fresh page, so that nothing of this person stays in memory.
  const person = useRef(session.user.id);
  useEffect(() => {
    if (person.current !== session.user.id) window.location.assign("/");
  }, [session.user.id]);

  const { id, name } = session.organization ?? {};
  const before = useRef(id);
  useEffect(() => {
    if (before.current === id) return;
    before.current = id;
    if (name) notify({ message: translator("shell")("organization.now", { name }) });
  }, [id, name]);
  return null;
}

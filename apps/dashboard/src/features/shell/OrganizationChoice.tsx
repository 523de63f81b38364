import { Button } from "@mantine/core";
import { useState } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { useSession } from "../../session.tsx";
import { useSwitchOrganization } from "./useSwitchOrganization.ts";

const t = translator("shell");

/** The organizations that the person could work in. */
export function OrganizationChoice() {
  const { organizations } = useSession();
  const switchTo = useSwitchOrganization();
  const [failure, setFailure] = useState<unknown>(null);
  return (
    <section className="card">
      <h2>{t("none.chooseTitle")}</h2>
      {failure !== null && <Failure error={failure} />}
      <div className="organization-choice">
        {organizations.map(({ id, name }) => (
          <Button key={id} variant="default" onClick={() => void switchTo(id).catch(setFailure)}>
            {name}
          </Button>
        ))}
      </div>
    </section>
  );
}

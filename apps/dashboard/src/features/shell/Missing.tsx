import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { translator } from "../../../../shared/i18n.ts";
import { useHeading } from "../../../../shared/ui/kit/heading.ts";

const t = translator("common");

/** Nothing lies at this address. */
export function Missing() {
  const heading = useHeading(t("missingTitle"));
  return (
    <div className="stage">
      <main id="content">
        <div className="card">
          <h1 ref={heading} tabIndex={-1}>
            {t("missingTitle")}
          </h1>
          <p>{t("missingText")}</p>
          <Button component={Link} to="/">
            {t("missingBack")}
          </Button>
        </div>
      </main>
    </div>
  );
}

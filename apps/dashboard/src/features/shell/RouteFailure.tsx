import { Button } from "@mantine/core";
import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { useHeading } from "../../../../shared/ui/kit/heading.ts";

const t = translator("common");

/** Shown in the place of a page that could not be loaded or does not work. */
export function RouteFailure({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const heading = useHeading(t("broken"));
  return (
    <div className="route-failure">
      <h1 ref={heading} tabIndex={-1}>
        {t("broken")}
      </h1>
      <Failure error={error} />
      <Button
        variant="default"
        onClick={() => {
          reset();
          void router.invalidate();
        }}
      >
        {t("retry")}
      </Button>
    </div>
  );
}

import { translator } from "../../../../shared/i18n.ts";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";

const t = translator("send");

/** For whoever may look but not send. */
export function Forbidden() {
  return (
    <>
      <PageHeader title={t("title")} />
      <Empty title={t("forbidden")} text={t("forbiddenText")} />
    </>
  );
}

import { translator } from "../../../../shared/i18n.ts";
import { Picture } from "../../../../shared/ui/icons.tsx";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import "./keys.css";

/** Says what is sent under the organization's name today, and what comes with a later version. */
export function BrandingPage() {
  const t = translator("settings");
  return (
    <>
      <PageHeader title={t("branding.title")} description={t("branding.description")} />
      <Empty
        icon={<Picture size={32} />}
        title={t("branding.later")}
        text={
          <>
            <p>{t("branding.today")}</p>
            <ul className="branding-list">
              <li>{t("branding.logo")}</li>
              <li>{t("branding.mails")}</li>
              <li>{t("branding.preview")}</li>
            </ul>
          </>
        }
      />
    </>
  );
}

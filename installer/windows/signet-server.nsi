; makensis -DVERSION=1.2.3 -DPAYLOAD=<folder> -DOUTPUT=<file.exe> signet-server.nsi
; The folder holds release\ (the server with node.exe) and signet-service.exe (WinSW 3). Silent: /S. Data survives: /PURGE removes it.
; Over an older installation it is an upgrade: it lies beside before the service stops, and what does not start leaves again.
Unicode true
; Signet needs 64 bits, so its installer may.
Target amd64-unicode
!include "LogicLib.nsh"
!include "FileFunc.nsh"
!include "WordFunc.nsh"
!include "x64.nsh"

!define FOLDERS "Software\Signet\Folders"
!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\SignetServer"

; Owned by the administrators, for them and the system alone, nothing inherited: every user may make folders in that of program data.
!define CLOSED "O:BAG:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"

Name "Signet Server"
OutFile "${OUTPUT}"
RequestExecutionLevel admin
SetCompressor lzma
ShowInstDetails show
VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "Signet Server"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "Signet Server"
VIAddVersionKey "LegalCopyright" "Signet"

; Signing is for whoever holds the certificate: SIGN and SIGNUNINSTALLER are commands with %1 for the file.
!ifdef SIGN
  !finalize '${SIGN}' = 0
!endif
!ifdef SIGNUNINSTALLER
  !uninstfinalize '${SIGNUNINSTALLER}' = 0
!endif

; No page for the folder: outside of that for programs others may write, and what lies there runs with the service's rights.
Page instfiles
UninstPage uninstConfirm
UninstPage instfiles

Function .onInit
  ${IfNot} ${RunningX64}
    MessageBox MB_ICONSTOP "Signet needs 64-bit Windows." /SD IDOK
    SetErrorLevel 1
    Abort
  ${EndIf}
  SetRegView 64
  StrCpy $INSTDIR "$PROGRAMFILES64\Signet"
  ; An older installer let the folder be chosen, and its uninstaller says which it was.
  ReadRegStr $0 HKLM "${UNINSTALL}" "UninstallString"
  ${If} $0 != ""
    StrCpy $0 $0 -1 1
    ${GetParent} $0 $0
    ${If} ${FileExists} "$0\signet-service.exe"
      StrCpy $INSTDIR $0
    ${EndIf}
  ${EndIf}
FunctionEnd

Function un.onInit
  SetRegView 64
FunctionEnd

!include "upgrade.nsh"
!include "folders.nsh"

; The second way is for a service that is, or is not, registered against all expectation.
!macro Register FIRST SECOND
  nsExec::ExecToLog '"$INSTDIR\signet-service.exe" ${FIRST}'
  Pop $0
  ${If} $0 != 0
    nsExec::ExecToLog '"$INSTDIR\signet-service.exe" ${SECOND}'
    Pop $0
  ${EndIf}
  ${If} $0 != 0
    StrCpy $Failure "The service could not be registered."
    Call TakeBack
  ${EndIf}
!macroend

Section "Signet Server"
  ReadEnvStr $1 ProgramData
  ${If} $1 == ""
    SetErrorLevel 1
    Abort "The folder of program data is not known."
  ${EndIf}
  StrCpy $Data "$1\Signet"
  ReadRegStr $0 HKLM "${UNINSTALL}" "DisplayVersion"
  ${If} $0 != ""
    ${VersionCompare} "${VERSION}" $0 $2
    ${If} $2 = 2
      SetErrorLevel 1
      Abort "Version $0 is installed, and ${VERSION} is older: its program does not know this database."
    ${EndIf}
  ${EndIf}
  Call OwnFolder
  Call FinishCutOff
  Call LayBeside
  StrCpy $Running 0
  StrCpy $Upgrade 0
  ${If} ${FileExists} "$INSTDIR\signet-service.exe"
    Call StopForUpgrade
  ${EndIf}
  Call Exchange
  ${If} $Upgrade = 1
    !insertmacro Register "refresh" "install"
  ${Else}
    !insertmacro Register "install" "refresh"
  ${EndIf}
  Call CloseData
  ${If} $Upgrade = 0
    nsExec::ExecToLog '"$INSTDIR\signet-service.exe" start'
    Pop $0
  ${ElseIf} $Running = 1
    Call StartUpgraded
  ${Else}
    DetailPrint "The service was stopped, and stays so."
  ${EndIf}
  Call Clean

  WriteUninstaller "$INSTDIR\uninstall.exe"
  WriteRegStr HKLM "${UNINSTALL}" "DisplayName" "Signet Server"
  WriteRegStr HKLM "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKLM "${UNINSTALL}" "Publisher" "Signet"
  WriteRegStr HKLM "${UNINSTALL}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKLM "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKLM "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKLM "${UNINSTALL}" "NoModify" 1
SectionEnd

Section "Uninstall"
  nsExec::ExecToLog '"$INSTDIR\signet-service.exe" stop'
  Pop $0
  nsExec::ExecToLog '"$INSTDIR\signet-service.exe" uninstall'
  Pop $0
  RMDir /r "$INSTDIR\release"
  RMDir /r "$INSTDIR\next"
  RMDir /r "$INSTDIR\before"
  RMDir /r "$INSTDIR\database"
  Delete "$INSTDIR\signet-service.exe"
  Delete "$INSTDIR\signet-service.xml"
  Delete "$INSTDIR\signet.cmd"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  DeleteRegKey HKLM "${UNINSTALL}"
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/PURGE" $1
  ${IfNot} ${Errors}
    ReadEnvStr $1 ProgramData
    ${If} $1 != ""
      Push "$1\Signet"
      Call un.Erase
      ${If} ${FileExists} "$1\Signet\*.*"
        DetailPrint "$1\Signet is left with what could not be deleted, or is a link: delete it yourself."
        SetErrorLevel 1
      ${Else}
        DeleteRegKey HKLM "${FOLDERS}"
        DeleteRegKey /ifempty HKLM "Software\Signet"
      ${EndIf}
    ${EndIf}
  ${EndIf}
SectionEnd

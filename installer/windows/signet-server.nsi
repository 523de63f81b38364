; makensis -DVERSION=1.2.3 -DPAYLOAD=<folder> -DOUTPUT=<file.exe> signet-server.nsi
; The folder holds release\ (the server with node.exe) and signet-service.exe (WinSW 3). Silent: /S. Data survives: /PURGE removes it.
Unicode true
; Signet needs 64 bits, so its installer may.
Target amd64-unicode
!include "LogicLib.nsh"
!include "FileFunc.nsh"
!include "x64.nsh"

!define FOLDERS "Software\Signet\Folders"
!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\SignetServer"

; Owned by the administrators, for them and the system alone, nothing inherited: every user may make folders in that of program data.
!define CLOSED "O:BAG:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"

Name "Signet Server"
OutFile "${OUTPUT}"
InstallDir "$PROGRAMFILES64\Signet"
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

Page directory
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
FunctionEnd

Function un.onInit
  SetRegView 64
FunctionEnd

; Makes $1\Signet closed from its first moment. One that is there is used when an installer noted that it made it, where only
; administrators write; what anybody else laid there, with settings or a master key of theirs, is not trusted.
Function OwnFolder
  System::Call 'kernel32::GetFileAttributesW(w "$1\Signet") i .r2'
  ${If} $2 <> -1
    IntOp $3 $2 & 0x400
    ${If} $3 <> 0
      SetErrorLevel 1
      Abort "$1\Signet is a link to another place: remove it, then install again."
    ${EndIf}
    ReadRegStr $3 HKLM "${FOLDERS}" "Data"
    ${If} $3 == "$1\Signet"
      Return
    ${EndIf}
    ; It goes when it is empty.
    RMDir "$1\Signet"
    ${If} ${FileExists} "$1\Signet\*.*"
      SetErrorLevel 1
      Abort "$1\Signet is there and was not made by this installer: move it away, then install again. Data of yours is put back after that."
    ${EndIf}
  ${EndIf}
  System::Call 'advapi32::ConvertStringSecurityDescriptorToSecurityDescriptorW(w "${CLOSED}", i 1, *p .r4, p 0) i .r5'
  ; SECURITY_ATTRIBUTES of 64 bits.
  System::Call '*(i 24, i 0, p r4, i 0, i 0) p .r6'
  ; It fails when somebody was faster.
  System::Call 'kernel32::CreateDirectoryW(w "$1\Signet", p r6) i .r7'
  System::Free $6
  ${If} $5 = 0
  ${OrIf} $7 = 0
    SetErrorLevel 1
    Abort "$1\Signet could not be made."
  ${EndIf}
  WriteRegStr HKLM "${FOLDERS}" "Data" "$1\Signet"
FunctionEnd

Section "Signet Server"
  ReadEnvStr $1 ProgramData
  ${If} $1 == ""
    SetErrorLevel 1
    Abort "The folder of program data is not known."
  ${EndIf}
  Call OwnFolder
  IfFileExists "$INSTDIR\signet-service.exe" 0 +2
    nsExec::ExecToLog '"$INSTDIR\signet-service.exe" stopwait'
  RMDir /r "$INSTDIR\release"
  SetOutPath "$INSTDIR"
  File /r "${PAYLOAD}/release"
  File "${PAYLOAD}/signet-service.exe"
  File "signet-service.xml"
  FileOpen $0 "$INSTDIR\signet.cmd" w
  FileWrite $0 '@set "SIGNET_DATA_DIR=%ProgramData%\Signet\data"$\r$\n'
  FileWrite $0 '@"%~dp0release\bin\node.exe" "%~dp0release\server\main.ts" %*$\r$\n'
  FileClose $0
  IfFileExists "$1\Signet\data\*.*" +2 0
    CreateDirectory "$1\Signet\data"
  CreateDirectory "$1\Signet\logs"

  nsExec::ExecToLog '"$INSTDIR\signet-service.exe" install'
  Pop $0
  ${If} $0 != 0
    ; It is registered already: an update.
    nsExec::ExecToLog '"$INSTDIR\signet-service.exe" refresh'
    Pop $0
  ${EndIf}
  ; The data is for the service and the administrators alone. The virtual account exists once the service does.
  nsExec::ExecToLog 'icacls "$1\Signet" /setowner *S-1-5-32-544'
  Pop $0
  nsExec::ExecToLog 'icacls "$1\Signet" /inheritance:r /grant:r "NT SERVICE\Signet:(OI)(CI)M" "*S-1-5-18:(OI)(CI)F" "*S-1-5-32-544:(OI)(CI)F"'
  Pop $0
  ${If} $0 != 0
    SetErrorLevel 1
    Abort "The data folder could not be closed to others."
  ${EndIf}
  nsExec::ExecToLog '"$INSTDIR\signet-service.exe" start'
  Pop $0

  WriteUninstaller "$INSTDIR\uninstall.exe"
  WriteRegStr HKLM "${UNINSTALL}" "DisplayName" "Signet Server"
  WriteRegStr HKLM "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKLM "${UNINSTALL}" "Publisher" "Signet"
  WriteRegStr HKLM "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKLM "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKLM "${UNINSTALL}" "NoModify" 1
SectionEnd

Section "Uninstall"
  nsExec::ExecToLog '"$INSTDIR\signet-service.exe" stopwait'
  nsExec::ExecToLog '"$INSTDIR\signet-service.exe" uninstall'
  RMDir /r "$INSTDIR\release"
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
      RMDir /r "$1\Signet"
      DeleteRegKey HKLM "${FOLDERS}"
      DeleteRegKey /ifempty HKLM "Software\Signet"
    ${EndIf}
  ${EndIf}
SectionEnd

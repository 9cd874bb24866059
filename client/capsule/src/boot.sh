# Runs in the jail as the first thing of a generation: KIND FOLDER REVISION. Main and a revision are cloned anew, with
# the logs of what was there before; a branch's folder is the agent's own work and must be there.
set -e
kind=$1 folder=$2 revision=$3
mkdir -p /bot/.signal
case $kind in
branch)
  test -d "$folder/.git" || { echo "the branch has no folder $folder" >&2; exit 64; }
  ;;
*)
  mkdir -p "${folder%/*}"
  rm -rf "$folder.new"
  git clone -q /mnt/remote "$folder.new"
  if test "$kind" = revision; then git -C "$folder.new" checkout -q --detach "$revision"; fi
  if test -d "$folder/logs" && ! test -L "$folder/logs"; then
    rm -rf "$folder.new/logs"
    mv "$folder/logs" "$folder.new/logs"
  fi
  rm -rf "$folder"
  mv "$folder.new" "$folder"
  ;;
esac
cd "$folder"
mkdir -p logs
exec python3 infra/runner.py
